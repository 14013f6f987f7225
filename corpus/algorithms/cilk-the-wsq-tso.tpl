// The THE protocol with fences between claiming a task and looking at the other end (Frigo, Leiserson, Randall, The implementation of the Cilk-5 multithreaded language, PLDI 1998).
//@ sc: robust
//@ ra: robust
//@ rc11: robust
//@ rc20: robust
//@ tso: robust
//
// Indices only: head = tail is the empty queue. Each index has one writer and carries no data, so relaxed
// accesses are enough between the fences and the lock.

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
                fence;
                h = head.load();
                if (h > t) {
                    // Conflict or empty: give it back and decide under the lock.
                    tail.store(t + 1);
                    lock(mutex);
                    tail.store(t);
                    fence;
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
        fence;
        t = tail.load();
        if (h + 1 > t) {
            head.store(h);
        }
        unlock(mutex);
    }
}
