// The THE protocol of Cilk-5's work-stealing queue, as designed for SC (Frigo, Leiserson, Randall, The implementation of the Cilk-5 multithreaded language, PLDI 1998).
//@ sc: robust
//@ ra: not-robust
//@ rc11: not-robust
//@ rc20: not-robust
//@ tso: not-robust
//
// Indices only: head = tail is the empty queue.

max_value 9;
global head = 1, tail = 1, mutex;

fn worker {
    local h, t;
    while (true) {
        oneof (
            {
                // Push, while there is room.
                t = tail.load();
                if (t < 8) {
                    tail.store(t + 1);
                }
            }
            {
                // Pop: take the last task, and look for a thief that wants the same.
                t = tail.load();
                t = t - 1;
                tail.store(t);
                h = head.load();
                if (h > t) {
                    // Conflict or empty: give it back and decide under the lock.
                    tail.store(t + 1);
                    lock(mutex);
                    tail.store(t);
                    h = head.load();
                    if (h > t) {
                        tail.store(t + 1);
                    }
                    unlock(mutex);
                }
            }
        );
        h = 0;
        t = 0;
    }
}

fn thief {
    local h, t;
    while (true) {
        lock(mutex);
        h = head.load();
        head.store(h + 1);
        t = tail.load();
        if (h + 1 > t) {
            head.store(h);
        }
        unlock(mutex);
    }
}
