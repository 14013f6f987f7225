// Chase and Lev's work-stealing deque with fences in take and around the load of top in steal (Lê et al., Correct and efficient work-stealing for weak memory models, PPoPP 2013).
//@ sc: robust
//@ ra: robust
//@ rc11: not-robust
//@ rc20: not-robust
//@ tso: robust
//
// Indices only; top = bottom is the empty deque. A thief's compare-and-swap either succeeds (BCAS) or is given
// up without a look at the value: spurious failures are benign.

max_value 20;
global top = 1, bottom = 1;

fn owner {
    local b, t, found;
    while (true) {
        oneof (
            {
                // Push, while there is room.
                b = bottom.load();
                if (b < 20) {
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
    local t, b;
    while (true) {
        fence;
        t = top.load();
        fence;
        b = bottom.load();
        if (t < b) {
            oneof (
                {
                    BCAS(top, t, t + 1);
                }
                {
                    skip;
                }
            );
        }
        t = 0;
        b = 0;
    }
}
