// Low-lock queue: its owner takes without the lock while there is enough for both, as designed for SC (Duffy, Building a custom thread pool: a work stealing queue, 2008; the protocol is that of Cilk-5, PLDI 1998).
//@ sc: robust
//@ ra: not-robust
//@ rc11: not-robust
//@ rc20: not-robust
//@ tso: not-robust
//
// The owner pushes two items and takes two, the thief steals twice. Item i is in slot i; head = tail is the empty
// queue.

max_value 4;
global head = 1, tail = 1, mutex, slot1, slot2, taken1, taken2;

fn owner {
    local takes, h, t, found, item, before;
    slot1.store(1);
    tail.store(2);
    slot2.store(2);
    tail.store(3);
    while (takes < 2) {
        takes = takes + 1;
        t = tail.load();
        t = t - 1;
        tail.store(t);
        h = head.load();
        found = h <= t;
        if (!found) {
            // A thief wants the same item, or there is none: decide under the lock.
            lock(mutex);
            h = head.load();
            found = h <= t;
            if (!found) {
                tail.store(t + 1);
            }
            unlock(mutex);
        }
        if (found) {
            if (t == 1) {
                item = slot1.load();
                before = taken1.load();
                taken1.store(1);
            } else {
                item = slot2.load();
                before = taken2.load();
                taken2.store(1);
            }
            assert(item == t && before == 0);
        }
    }
}

fn thief {
    local steals, h, t, item, before;
    while (steals < 2) {
        steals = steals + 1;
        lock(mutex);
        h = head.load();
        head.store(h + 1);
        t = tail.load();
        if (h < t) {
            if (h == 1) {
                item = slot1.load();
                before = taken1.load();
                taken1.store(1);
            } else {
                item = slot2.load();
                before = taken2.load();
                taken2.store(1);
            }
            assert(item == h && before == 0);
        } else {
            head.store(h);
        }
        unlock(mutex);
    }
}
