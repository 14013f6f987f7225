// C++20: waiting on atomics, semaphores, latches, barriers. No race is reported. But how libstdc++ 12 waits isn't robust
// (who notifies looks for waiters after a release only: a waiter may be missed, if the kernel's futex didn't order more
// than the source says), so there are reports of stale loads inside its headers.
#include "check.h"
#include <atomic>
#include <barrier>
#include <latch>
#include <semaphore>
#include <thread>
#include <vector>

static void in_parallel(int count, auto body) {
    std::vector<std::thread> threads;
    for (int i = 0; i < count; i++) threads.emplace_back(body, i);
    for (auto &thread : threads) thread.join();
}

static void cpp20() {
    std::atomic<int> turn = 0;
    int data = 0;
    in_parallel(2, [&](int me) {
        for (int i = 0; i < 100; i++) {
            int now;
            while ((now = turn.load(std::memory_order_acquire)) % 2 != me) turn.wait(now);
            data++;
            turn.store(now + 1, std::memory_order_release);
            turn.notify_all();
        }
    });
    CHECK(data == 200);
    std::counting_semaphore<4> semaphore(0);
    std::latch latch(1);
    std::barrier barrier(3);
    int slots[3] = {};
    data = 0;
    std::thread waits([&] {
        semaphore.acquire();
        CHECK(data == 7);
        data = 8;
        latch.count_down();
    });
    data = 7;
    semaphore.release();
    latch.wait();
    CHECK(data == 8);
    waits.join();
    in_parallel(3, [&](int me) {
        for (int i = 0; i < 100; i++) {
            slots[me] = i;
            barrier.arrive_and_wait();
            CHECK(slots[0] == i && slots[1] == i && slots[2] == i);
            barrier.arrive_and_wait();
        }
    });
}

int main() {
    cpp20();
    puts("cpp20: ok");
    return 0;
}
