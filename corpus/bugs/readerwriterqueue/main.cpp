// readerwriterqueue 1.0.6: a producer links a new block into the ring of blocks before the release fence that was meant for it. Whoever walks along the
// ring, as size_approx() does from any thread, may see the block before its contents (cameron314/readerwriterqueue#171, fixed in August 2026
// by moving the fence before both stores).
//@ package: libreaderwriterqueue-dev 1.0.6-1
//@ expect: readerwriterqueue.h:610-632  the new block is made, linked in and published by `inner_enqueue`

#include <readerwriterqueue.h>

#include <cstdio>
#include <thread>

int main() {
    for (int round = 0; round < 20; round++) {
        // Small blocks, so that new ones are often needed.
        moodycamel::ReaderWriterQueue<int, 2> queue(2);
        std::thread producer([&] {
            for (int i = 0; i < 200; i++)
                queue.enqueue(i);
        });
        std::thread watcher([&] {
            size_t most = 0;
            for (int i = 0; i < 200; i++) {
                size_t size = queue.size_approx();
                most = size > most ? size : most;
                std::this_thread::yield();
            }
        });
        producer.join();
        watcher.join();
    }
}
