// Low-lock queue with explicit modes and a fence after each claim (Duffy, Building a custom thread pool: a work stealing queue, 2008; the protocol is that of Cilk-5, PLDI 1998).
//@ sc: robust
//@ ra: robust
//@ rc11: robust
//@ rc20: robust
//@ tso: robust
//
// The owner pushes two items and takes two, the thief steals twice. Item i is in slot i; head = tail is the empty
// queue.

max_value 4;
global head = 1, tail = 1, mutex;
na slot1, slot2, taken1, taken2;

fn owner {
    local takes, h, t, found, item, before;
    slot1.nastore(1);
    tail.store(2, rel);
    slot2.nastore(2);
    tail.store(3, rel);
    while (takes < 2) {
        takes = takes + 1;
        t = tail.load(rlx);
        t = t - 1;
        tail.store(t, rel);
        fence;
        h = head.load(acq);
        found = h <= t;
        if (!found) {
            // A thief wants the same item, or there is none: decide under the lock.
            lock(mutex);
            h = head.load(rlx);
            found = h <= t;
            if (!found) {
                tail.store(t + 1, rel);
            }
            unlock(mutex);
        }
        if (found) {
            if (t == 1) {
                item = slot1.naload();
                before = taken1.naload();
                taken1.nastore(1);
            } else {
                item = slot2.naload();
                before = taken2.naload();
                taken2.nastore(1);
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
        h = head.load(rlx);
        head.store(h + 1, rel);
        fence;
        t = tail.load(acq);
        if (h < t) {
            if (h == 1) {
                item = slot1.naload();
                before = taken1.naload();
                taken1.nastore(1);
            } else {
                item = slot2.naload();
                before = taken2.naload();
                taken2.nastore(1);
            }
            assert(item == h && before == 0);
        } else {
            head.store(h, rel);
        }
        unlock(mutex);
    }
}
