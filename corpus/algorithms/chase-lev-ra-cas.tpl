// The same with strong compare-and-swaps in steal: one that fails may do so on a stale top (Lê et al., Correct and efficient work-stealing for weak memory models, PPoPP 2013).
//@ sc: robust
//@ ra: not-robust
//@ rc11: not-robust
//@ rc20: not-robust
//@ tso: robust
//
// Indices only; top = bottom is the empty deque. Benign: the thief fails in any case.

max_value 8;
global top = 1, bottom = 1;

fn owner {
    local b, t, found;
    while (true) {
        oneof (
            {
                // Push, while there is room.
                b = bottom.load();
                if (b < 8) {
                    bottom.store(b + 1);
                }
            }
            {
                // Take the last task, unless a thief was faster.
                b = bottom.load();
                b = b - 1;
                bottom.store(b);
                fence;
                t = top.load();
                if (t >= b) {
                    if (t == b) {
                        found = CAS(top, t, t + 1);
                    }
                    bottom.store(b + 1);
                }
            }
        );
        b = 0;
        t = 0;
        found = 0;
    }
}

fn thief[2] {
    local t, b, found;
    while (true) {
        fence;
        t = top.load();
        fence;
        b = bottom.load();
        if (t < b) {
            found = CAS(top, t, t + 1);
        }
        t = 0;
        b = 0;
        found = 0;
    }
}
