// Chase and Lev's work-stealing deque, as designed for SC (Chase & Lev, Dynamic circular work-stealing deque, SPAA 2005).
//@ sc: robust
//@ ra: not-robust
//@ rc11: not-robust
//@ rc20: not-robust
//@ tso: not-robust
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
        t = top.load();
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
