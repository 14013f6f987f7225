// C++: threads, locks, conditions, futures, statics inside functions, call_once that throws, shared exceptions and
// pointers, delete, thread_local with destructors. Nothing to report, exit code 0.
#include "check.h"
#include <atomic>
#include <condition_variable>
#include <exception>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

static void in_parallel(int count, auto body) {
    std::vector<std::thread> threads;
    for (int i = 0; i < count; i++) threads.emplace_back(body, i);
    for (auto &thread : threads) thread.join();
}

struct Made {
    static inline int made = 0;
    std::string name;
    std::map<int, int> squares;
    Made() : name("a name that is too long to be kept inside of a string") {
        made++;
        for (int i = 0; i < 20; i++) squares[i] = i * i;
    }
};

static Made &single() {
    static Made made;
    return made;
}

static int attempts;
static int stubborn() {
    static int value = [] {
        if (++attempts < 3) throw std::runtime_error("not yet");
        return 42;
    }();
    return value;
}

static void statics() {
    in_parallel(8, [](int) {
        for (int i = 0; i < 100; i++) {
            CHECK(single().squares.at(7) == 49 && single().name.size() > 30);
        }
    });
    CHECK(Made::made == 1);
    std::atomic<int> failures = 0;
    in_parallel(4, [&](int) {
        for (;;) {
            try {
                CHECK(stubborn() == 42);
                return;
            } catch (const std::runtime_error &) {
                failures++;
            }
        }
    });
    CHECK(failures == 2 && attempts == 3);
}

static std::once_flag flag;
static int calls, value;

static void once() {
    std::atomic<int> thrown = 0;
    in_parallel(6, [&](int) {
        try {
            std::call_once(flag, [] {
                if (++calls == 1) throw std::runtime_error("once more");
                value = 5;
            });
            CHECK(value == 5);
        } catch (const std::runtime_error &) {
            thrown++;
            std::call_once(flag, [] { value = 5; });
            CHECK(value == 5);
        }
    });
    CHECK(thrown == 1);
}

static void locks() {
    std::mutex mutex;
    std::recursive_mutex recursive;
    std::shared_mutex shared;
    std::condition_variable condition;
    int count = 0, arrived = 0, slow = 0;
    in_parallel(4, [&](int me) {
        for (int i = 0; i < 500; i++) {
            std::scoped_lock both(mutex, recursive);
            std::lock_guard again(recursive);
            count++;
        }
        for (int i = 0; i < 200; i++) {
            if (i % 10 == me) {
                std::unique_lock write(shared);
                slow++;
            } else {
                std::shared_lock read(shared);
                CHECK(slow >= 0);
            }
        }
        std::unique_lock lock(mutex);
        arrived++;
        condition.notify_all();
        condition.wait(lock, [&] { return arrived == 4; });
        condition.wait_for(lock, std::chrono::microseconds(10));
    });
    CHECK(count == 2000 && slow == 80);
}

static void futures() {
    std::promise<std::vector<int>> promise;
    auto future = promise.get_future();
    std::thread sender([&] { promise.set_value({1, 2, 3}); });
    CHECK(future.get().size() == 3);
    sender.join();
    auto later = std::async(std::launch::async, [] { return std::make_unique<std::string>("from another thread"); });
    CHECK(*later.get() == "from another thread");
    auto failed = std::async(std::launch::async, []() -> int { throw std::runtime_error("as planned"); });
    try {
        failed.get();
        CHECK(false);
    } catch (const std::runtime_error &error) {
        CHECK(std::string(error.what()) == "as planned");
    }
    std::packaged_task<int(int)> task([](int x) { return x + 1; });
    auto result = task.get_future();
    std::thread worker(std::move(task), 4);
    CHECK(result.get() == 5);
    worker.join();
}

struct Failure {
    std::string text = "a text that is too long to be kept inside of a string";
    std::vector<int> more = std::vector<int>(10, 3);
    ~Failure() {
        more.clear();
        text.clear();
    }
};

// Whoever gives up its share last destroys the exception; libstdc++ alone knows who that is.
static void exceptions() {
    static std::atomic<int> done;
    for (int round = 0; round < 100; round++) {
        done.store(0, std::memory_order_relaxed);
        {
            auto shared = std::make_exception_ptr(Failure());
            for (int i = 0; i < 3; i++) {
                std::thread([](std::exception_ptr mine) {
                    try {
                        std::rethrow_exception(mine);
                    } catch (const Failure &failure) {
                        CHECK(failure.text.size() > 30 && failure.more[3] == 3);
                    }
                    mine = nullptr;
                    done.fetch_add(1, std::memory_order_relaxed);
                }, shared).detach();
            }
        }
        while (done.load(std::memory_order_relaxed) < 3) std::this_thread::yield();
    }
}

struct Node {
    int data[20] = {};
    virtual ~Node() { data[0] = -1; }
};

static void ownership() {
    for (int round = 0; round < 50; round++) {
        auto shared = std::make_shared<Node>();
        std::shared_ptr<Node> other(new Node);
        in_parallel(3, [shared, other](int me) {
            auto mine = shared;
            mine->data[me + 1] = me;
            CHECK(other->data[0] == 0);
        });
        shared.reset();
    }
    std::atomic<Node *> handed = nullptr;
    std::thread maker([&] {
        for (int i = 0; i < 200; i++) {
            auto *node = new Node;
            node->data[3] = i;
            Node *none = nullptr;
            while (!handed.compare_exchange_weak(none, node, std::memory_order_release)) {
                none = nullptr;
                std::this_thread::yield();
            }
        }
    });
    for (int i = 0; i < 200; i++) {
        Node *node;
        while (!(node = handed.exchange(nullptr, std::memory_order_acquire))) std::this_thread::yield();
        CHECK(node->data[3] == i);
        delete node;
    }
    maker.join();
}

static int destroyed;
struct Local {
    int value = 0;
    ~Local() { destroyed += value; }
};
static thread_local Local local;

static void locals() {
    for (int i = 0; i < 10; i++) std::thread([] { local.value = 1; }).join();
    CHECK(destroyed == 10);
}

int main() {
    statics();
    once();
    locks();
    futures();
    exceptions();
    ownership();
    locals();
    puts("cpp: ok");
    return 0;
}
