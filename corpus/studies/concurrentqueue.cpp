// Threads that put into and take out of moodycamel's concurrent queues: one by one, in bulk, with and without tokens, waiting and not.

#include <blockingconcurrentqueue.h>
#include <concurrentqueue.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

constexpr int THREADS = 4, ITEMS = 400;

static void must(bool holds, const char *part) {
    if (!holds) {
        std::fprintf(stderr, "%s: wrong result\n", part);
        std::_Exit(3);
    }
}

static void together(void (*body)(int me)) {
    std::vector<std::thread> crew;
    for (int me = 0; me < THREADS; me++)
        crew.emplace_back(body, me);
    for (auto &thread : crew)
        thread.join();
}

// Items own memory, so that whoever takes one must have the right to it.
using Item = std::unique_ptr<int>;

static moodycamel::ConcurrentQueue<Item> *queue;
static int sums[THREADS];

static void single(int me) {
    for (int i = 0; i < ITEMS; i++) {
        queue->enqueue(Item(new int(1)));
        Item item;
        if (queue->try_dequeue(item))
            sums[me] += *item;
    }
}

static void tokens(int me) {
    moodycamel::ProducerToken in(*queue);
    moodycamel::ConsumerToken out(*queue);
    for (int i = 0; i < ITEMS; i++) {
        queue->enqueue(in, Item(new int(1)));
        Item item;
        if (i % 3 && queue->try_dequeue(out, item))
            sums[me] += *item;
    }
}

static void bulk(int me) {
    for (int i = 0; i < ITEMS; i += 8) {
        Item some[8];
        for (auto &item : some)
            item.reset(new int(1));
        queue->enqueue_bulk(std::make_move_iterator(some), 8);
        size_t taken = queue->try_dequeue_bulk(some, 8);
        for (size_t j = 0; j < taken; j++)
            sums[me] += *some[j];
    }
}

static moodycamel::BlockingConcurrentQueue<Item> *blocking;

static void waiting(int me) {
    for (int i = 0; i < ITEMS; i++) {
        if (me % 2) {
            blocking->enqueue(Item(new int(1)));
        } else {
            Item item;
            blocking->wait_dequeue(item);
            sums[me] += *item;
        }
    }
}

int main() {
    for (auto part : {single, tokens, bulk}) {
        // A small one, which grows.
        moodycamel::ConcurrentQueue<Item> fresh(32);
        queue = &fresh;
        std::fill(sums, sums + THREADS, 0);
        together(part);
        int left = 0;
        for (Item item; fresh.try_dequeue(item); left++)
            must(*item == 1, "queue");
        for (int sum : sums)
            left += sum;
        must(left == THREADS * ITEMS, "queue");
    }
    moodycamel::BlockingConcurrentQueue<Item> fresh;
    blocking = &fresh;
    together(waiting);
}
