// What belongs to a thread, stays its own: errno, names, variables and their destructors, exceptions, results.
#include <atomic>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <pthread.h>
#include <stdexcept>
#include <thread>

static std::atomic<int> steps, destroyed;

struct Counted {
    long number = 0;
    ~Counted() { destroyed.fetch_add(1, std::memory_order_relaxed); }
};

static thread_local Counted counted;
static thread_local long sum = 7;
static pthread_key_t key;

static void forget(void *value) { destroyed.fetch_add(int(long(value)), std::memory_order_relaxed); }

static int deep(int depth) {
    steps.fetch_add(1, std::memory_order_relaxed);
    if (depth == 0)
        throw std::runtime_error("thrown");
    return deep(depth - 1) + 1;
}

static void *work(void *argument) {
    long me = long(argument);
    pthread_t self = pthread_self();
    errno = int(me);
    counted.number = me;
    sum += me;
    pthread_setspecific(key, reinterpret_cast<void *>(10));
    for (int i = 0; i < 2; i++) {
        steps.fetch_add(1, std::memory_order_relaxed);
        assert(errno == me && counted.number == me && sum == 7 + me && pthread_equal(self, pthread_self()));
    }
    try {
        deep(1);
    } catch (std::exception &exception) {
        assert(!std::strcmp(exception.what(), "thrown"));
    }
    assert(errno == me);
    if (me == 2)
        pthread_exit(reinterpret_cast<void *>(42));
    return reinterpret_cast<void *>(me * 100);
}

static void created_and_joined() {
    pthread_t threads[2];
    void *result;
    pthread_key_create(&key, forget);
    for (long i = 0; i < 2; i++)
        assert(!pthread_create(&threads[i], nullptr, work, reinterpret_cast<void *>(i + 1)));
    pthread_join(threads[1], &result);
    assert(result == reinterpret_cast<void *>(42));
    while (int wrong = pthread_tryjoin_np(threads[0], &result))
        assert(wrong == EBUSY);
    assert(result == reinterpret_cast<void *>(100));
    assert(destroyed == 22 && steps == 8);
}

// More than are kept: the others really end, and their stacks are used again.
static void one_after_the_other() {
    for (long i = 0; i < 100; i++) {
        pthread_t thread;
        void *result;
        auto same = [](void *value) { return value; };
        assert(!pthread_create(&thread, nullptr, same, reinterpret_cast<void *>(i)));
        pthread_join(thread, &result);
        assert(result == reinterpret_cast<void *>(i));
    }
}

static void of_the_library() {
    int plain = 0;
    std::thread thread([&] { plain = 1; });
    std::jthread another([] { steps++; });
    thread.join();
    assert(plain == 1);
}

int main(int count, char **arguments) {
    if (count == 2 && !std::strcmp(arguments[1], "own"))
        created_and_joined();
    else if (count == 2 && !std::strcmp(arguments[1], "many"))
        one_after_the_other();
    else if (count == 2 && !std::strcmp(arguments[1], "library"))
        of_the_library();
    else
        return 99;
    return 0;
}
