// User-level RCU by quiescent states, one updater and three readers (Desnoyers et al., User-level implementations of read-copy update, TPDS 2012, QSBR).
//@ sc: robust
//@ ra: robust
//@ rc11: not-robust
//@ rc20: not-robust
//@ tso: robust
//@ slow: 1.4 million states under tso
//
// A slot that is not in use holds 0. Periods wrap around.

max_value 2;
global period_now, current, seen1, seen2, seen3, slot0 = 1, slot1;

fn updater {
    local period;
    while (true) {
        // Publish slot 1, then wait until nobody can still be in slot 0.
        slot1.store(1);
        current.store(1);
        period = period + 1;
        period_now.store(period);
        wait(seen1, period);
        wait(seen2, period);
        wait(seen3, period);
        slot0.store(0);

        // The same the other way round.
        slot0.store(1);
        current.store(0);
        period = period + 1;
        period_now.store(period);
        wait(seen1, period);
        wait(seen2, period);
        wait(seen3, period);
        slot1.store(0);
    }
}

fn reader1 {
    local period, which, value;
    while (true) {
        which = current.load();
        if (which) {
            value = slot1.load();
        } else {
            value = slot0.load();
        }
        assert(value == 1);

        // A quiescent state: nothing read before is used any more.
        period = period_now.load();
        seen1.store(period);
    }
}

fn reader2 {
    local period, which, value;
    while (true) {
        which = current.load();
        if (which) {
            value = slot1.load();
        } else {
            value = slot0.load();
        }
        assert(value == 1);

        // A quiescent state: nothing read before is used any more.
        period = period_now.load();
        seen2.store(period);
    }
}

fn reader3 {
    local period, which, value;
    while (true) {
        which = current.load();
        if (which) {
            value = slot1.load();
        } else {
            value = slot0.load();
        }
        assert(value == 1);

        // A quiescent state: nothing read before is used any more.
        period = period_now.load();
        seen3.store(period);
    }
}
