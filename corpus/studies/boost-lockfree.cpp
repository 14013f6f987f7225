// Threads that put into and take out of the containers of Boost.Lockfree.

#include <boost/lockfree/queue.hpp>
#include <boost/lockfree/spsc_queue.hpp>
#include <boost/lockfree/stack.hpp>

#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

constexpr int THREADS = 4, ITEMS = 400;

static void must(bool holds, const char *part) {
    if (!holds) {
        std::fprintf(stderr, "%s: wrong result\n", part);
        std::_Exit(3);
    }
}

static void together(int threads, void (*body)(int me)) {
    std::vector<std::thread> crew;
    for (int me = 0; me < threads; me++)
        crew.emplace_back(body, me);
    for (auto &thread : crew)
        thread.join();
}

// Pointers, so that whoever takes one must have the right to what it points to.
static boost::lockfree::queue<int *> queue(8);
static boost::lockfree::queue<int *, boost::lockfree::capacity<16>> bounded;
static boost::lockfree::stack<int *> stack(8);
static boost::lockfree::spsc_queue<int *, boost::lockfree::capacity<8>> ring;

template <typename Container> static void push_and_pop(Container &container, const char *name) {
    for (int i = 0; i < ITEMS; i++) {
        while (!container.push(new int(1)))
            std::this_thread::yield();
        int *item;
        while (!container.pop(item))
            std::this_thread::yield();
        must(*item == 1, name);
        delete item;
    }
}

static void pass_on(int me) {
    for (int i = 0; i < ITEMS;) {
        int *item;
        if (me == 0) {
            item = new int(i);
            while (!ring.push(item))
                std::this_thread::yield();
            i++;
        } else if (ring.pop(item)) {
            must(*item == i++, "spsc_queue");
            delete item;
        } else {
            std::this_thread::yield();
        }
    }
}

int main() {
    together(THREADS, [](int) { push_and_pop(queue, "queue"); });
    together(THREADS, [](int) { push_and_pop(bounded, "bounded queue"); });
    together(THREADS, [](int) { push_and_pop(stack, "stack"); });
    together(2, pass_on);
}
