// Chase and Lev's work-stealing deque with explicit modes (Lê et al., Correct and efficient work-stealing for weak memory models, PPoPP 2013).
//@ sc: robust
//@ ra: robust
//@ rc11: robust
//@ rc20: robust
//@ tso: robust
//
// Indices only; top = bottom is the empty deque. A thief's compare-and-swap either succeeds (BCAS) or is given
// up without a look at the value: spurious failures are benign.

max_value 10;
global top = 1, bottom = 1;

fn owner {
    local b, t, found;
    while (true) {
        oneof (
            {
                // Push, while there is room.
                b = bottom.load(rlx);
                if (b < 10) {
                    bottom.store(b + 1, rel);
                }
            }
            {
                // Take the last task, unless a thief was faster.
                b = bottom.load(rlx);
                b = b - 1;
                bottom.store(b, rel);
                fence;
                t = top.load(acq);
                if (t >= b) {
                    if (t == b) {
                        found = CAS(top, t, t + 1, acq, rel);
                    }
                    bottom.store(b + 1, rel);
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
        t = top.load(acq);
        fence;
        b = bottom.load(acq);
        if (t < b) {
            oneof (
                {
                    BCAS(top, t, t + 1, acq, rel);
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
