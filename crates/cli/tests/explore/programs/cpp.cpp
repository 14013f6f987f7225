// C++: threads, locks, latches, barriers, semaphores, futures, one-time initialisation, exceptions.
#include <atomic>
#include <barrier>
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <future>
#include <latch>
#include <mutex>
#include <random>
#include <semaphore>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

using namespace std::chrono_literals;

static void run(std::function<void(int)> work) {
    std::thread first(work, 0), second(work, 1);
    first.join();
    second.join();
}

struct Costly {
    static inline int made = 0;
    Costly() { made++; std::this_thread::yield(); }
    ~Costly() {}
};

static Costly &costly() {
    static Costly one;
    return one;
}

struct Local {
    std::atomic<int> *count;
    ~Local() { if (count) count->fetch_add(1); }
};
static thread_local Local local;

int main(int count, char **arguments) {
    std::string kind = count > 1 ? arguments[1] : "mutex";
    int counter = 0;
    if (kind == "mutex") {
        std::mutex mutex;
        run([&](int) { std::lock_guard lock(mutex); counter++; });
        assert(counter == 2);
    } else if (kind == "timed") {
        std::timed_mutex mutex;
        run([&](int) {
            if (mutex.try_lock_for(1s)) { counter++; mutex.unlock(); }
        });
        assert(counter <= 2);
    } else if (kind == "shared") {
        std::shared_mutex mutex;
        run([&](int me) {
            if (me) { std::unique_lock lock(mutex); counter++; }
            else { std::shared_lock lock(mutex); assert(counter <= 1); }
        });
    } else if (kind == "condition") {
        std::mutex mutex;
        std::condition_variable changed;
        run([&](int me) {
            std::unique_lock lock(mutex);
            if (me) changed.wait(lock, [&] { return counter; });
            else { counter = 1; changed.notify_all(); }
        });
    } else if (kind == "condition-timed") {
        std::mutex mutex;
        std::condition_variable changed;
        run([&](int me) {
            std::unique_lock lock(mutex);
            auto start = std::chrono::steady_clock::now();
            if (me && changed.wait_for(lock, 2s) == std::cv_status::timeout)
                assert(std::chrono::steady_clock::now() - start >= 2s);
            else if (!me) changed.notify_one();
        });
    } else if (kind == "latch") {
        std::latch latch(2);
        std::atomic<int> there = 0;
        run([&](int) { there++; latch.arrive_and_wait(); assert(there == 2); });
    } else if (kind == "barrier") {
        int phases = 0;
        std::barrier barrier(2, [&]() noexcept { phases++; });
        run([&](int) { barrier.arrive_and_wait(); assert(phases == 1); barrier.arrive_and_wait(); });
        assert(phases == 2);
    } else if (kind == "semaphore") {
        std::counting_semaphore<1> semaphore(1);
        run([&](int) { semaphore.acquire(); counter++; semaphore.release(); });
        assert(counter == 2);
    } else if (kind == "semaphore-timed") {
        std::binary_semaphore semaphore(0);
        run([&](int me) { if (me) (void)semaphore.try_acquire_for(1s); else semaphore.release(); });
    } else if (kind == "wait") {
        std::atomic<int> value = 0;
        std::atomic<long> wide = 0;
        run([&](int me) {
            if (me) { value.wait(0); wide.wait(0); assert(value == 1 && wide == 1); }
            else { value = 1; value.notify_one(); wide = 1; wide.notify_all(); }
        });
    } else if (kind == "future") {
        std::promise<int> promise;
        std::future<int> future = promise.get_future();
        run([&](int me) { if (me) assert(future.get() == 7); else promise.set_value(7); });
    } else if (kind == "async") {
        auto future = std::async(std::launch::async, [] { return 7; });
        while (future.wait_for(1ms) == std::future_status::timeout) {}
        assert(future.get() == 7);
    } else if (kind == "once") {
        std::once_flag flag;
        std::atomic<int> tries = 0;
        run([&](int) {
            try {
                std::call_once(flag, [&] { if (tries++ == 0) throw std::runtime_error("once more"); counter++; });
            } catch (const std::runtime_error &) {}
            std::call_once(flag, [&] { counter++; });
        });
        assert(counter == 1);
    } else if (kind == "static") {
        run([&](int) { costly(); });
        assert(Costly::made == 1);
    } else if (kind == "exception") {
        std::mutex mutex;
        run([&](int me) {
            try {
                std::lock_guard lock(mutex);
                if (me) throw std::runtime_error("unwound");
                std::this_thread::sleep_for(10ms);
            } catch (const std::runtime_error &error) {
                std::lock_guard lock(mutex);
                counter = error.what()[0] == 'u';
            }
        });
        assert(counter == 1);
    } else if (kind == "throws") { // the unwinder has locks of its own
        std::atomic<int> caught = 0;
        run([&](int) {
            try { throw 1; } catch (int) { caught++; }
        });
        assert(caught == 2);
    } else if (kind == "local") {
        std::atomic<int> ended = 0;
        run([&](int) { local.count = &ended; });
        assert(ended == 2);
    } else if (kind == "random") {
        std::random_device device;
        std::mt19937 engine(device());
        std::atomic<int> value = 0;
        run([&](int) { if (device() & 1) value++; value++; });
        assert(value >= 2 && engine() != engine());
    } else {
        return 9;
    }
}
