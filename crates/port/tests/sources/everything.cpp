// The same for C++: exceptions, virtual functions, templates, threads of the standard library.
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

struct shape {
    virtual ~shape() = default;
    virtual int area() const = 0;
};

struct square : shape {
    int side = 0;
    int area() const override { return side * side; }
};

template <typename T> struct cell {
    std::atomic<T> value{};
    T swap(T with) { return value.exchange(with, std::memory_order_acq_rel); }
};

static cell<int> shared;
static cell<shape *> current;
static std::map<std::string, int> table;
static std::mutex lock;

static int look_up(const std::string &name) {
    std::lock_guard<std::mutex> guard(lock);
    try {
        return table.at(name);
    } catch (const std::out_of_range &) {
        return -1;
    }
}

int main() {
    std::vector<std::thread> threads;
    auto s = std::make_unique<square>();
    current.value.store(s.get(), std::memory_order_release);
    for (int i = 0; i < 3; i++)
        threads.emplace_back([i] {
            shared.swap(look_up(std::to_string(i)));
            if (auto *seen = current.value.load(std::memory_order_acquire))
                shared.value.fetch_add(seen->area(), std::memory_order_relaxed);
        });
    for (auto &thread : threads)
        thread.join();
    return shared.value.load();
}
