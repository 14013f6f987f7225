// User-level RCU by quiescent states with explicit modes and slots that are not atomic, two readers (Desnoyers et al., User-level implementations of read-copy update, TPDS 2012, QSBR).
//@ sc: robust
//@ ra: robust
//@ rc11: robust
//@ rc20: robust
//@ tso: robust
//
// A slot that is not in use holds 0. Periods wrap around.

max_value 2;
global period_now, current, seen1, seen2;
na slot0 = 1, slot1;

fn updater {
    local period;
    while (true) {
        // Publish slot 1, then wait until nobody can still be in slot 0.
        slot1.nastore(1);
        current.store(1, rel);
        period = period + 1;
        period_now.store(period, rel);
        wait(seen1, period, acq);
        wait(seen2, period, acq);
        slot0.nastore(0);

        // The same the other way round.
        slot0.nastore(1);
        current.store(0, rel);
        period = period + 1;
        period_now.store(period, rel);
        wait(seen1, period, acq);
        wait(seen2, period, acq);
        slot1.nastore(0);
    }
}

fn reader1 {
    local period, which, value;
    while (true) {
        which = current.load(acq);
        if (which) {
            value = slot1.naload();
        } else {
            value = slot0.naload();
        }
        assert(value == 1);

        // A quiescent state: nothing read before is used any more.
        period = period_now.load(acq);
        seen1.store(period, rel);
    }
}

fn reader2 {
    local period, which, value;
    while (true) {
        which = current.load(acq);
        if (which) {
            value = slot1.naload();
        } else {
            value = slot0.naload();
        }
        assert(value == 1);

        // A quiescent state: nothing read before is used any more.
        period = period_now.load(acq);
        seen2.store(period, rel);
    }
}
