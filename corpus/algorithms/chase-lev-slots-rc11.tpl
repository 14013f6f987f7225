// Chase and Lev's work-stealing deque with its slots, strong compare-and-swaps, and all it needs to be robust under RC11 (after Lê et al., Correct and efficient work-stealing for weak memory models, PPoPP 2013).
//@ sc: robust
//@ ra: robust
//@ rc11: robust
//@ rc20: robust
//@ tso: robust
//@ slow: 670,000 states under rc11
//
// A ring of two slots. The sanitizer's version of it is corpus/c/chase-lev-robust.c. The last fence of the thief is what RC11 needs
// beyond RC20: a compare-and-swap that fails is a relaxed load, and SC fences are no updates of a location.

max_value 8;
global top = 1, bottom = 1, s0, s1;

fn owner {
    local b, t, found, task;
    while (true) {
        oneof (
            {
                b = bottom.load(rlx);
                fence;
                t = top.load(acq);
                if (b - t <= 1 && b < 7) {
                    if (b % 2 == 0) { s0.store(b, rel); } else { s1.store(b, rel); }
                    bottom.store(b + 1, rel);
                }
            }
            {
                b = bottom.load(rlx);
                b = b - 1;
                bottom.store(b, rel);
                fence;
                t = top.load(rlx);
                if (t > b) {
                    bottom.store(b + 1, rel);
                } else {
                    if (b % 2 == 0) { task = s0.load(rlx); } else { task = s1.load(rlx); }
                    if (t == b) {
                        found = CAS(top, t, t + 1, sc, sc, rlx);
                        bottom.store(b + 1, rel);
                    }
                }
            }
        );
        b = 0; t = 0; found = 0; task = 0;
    }
}

fn thief[2] {
    local t, b, found, task;
    while (true) {
        fence;
        t = top.load(acq);
        fence;
        b = bottom.load(acq);
        if (t < b) {
            fence;
            if (t % 2 == 0) { task = s0.load(acq); } else { task = s1.load(acq); }
            found = CAS(top, t, t + 1, sc, sc, rlx);
        }
        t = 0; b = 0; found = 0; task = 0;
    }
}
