// User-level RCU with two updaters that also read, and a reader that goes offline and comes back (Desnoyers et al., User-level implementations of read-copy update, TPDS 2012, QSBR).
//@ sc: robust
//@ ra: robust
//@ rc11: not-robust
//@ rc20: not-robust
//@ tso: robust
//@ slow: 0.6 million states under ra
//
// seen = 0 means offline. A slot that is not in use holds 0. Periods are not reused: each updater works once.

max_value 3;
global mutex, period_now = 1, current, slot0 = 1, slot1, seen1, seen2, seen3;

fn updater1 {
    local period, which, value;
    // Come online and read.
    period = period_now.load();
    seen1.store(period);
    fence;
    which = current.load();
    if (which) {
        value = slot1.load();
    } else {
        value = slot0.load();
    }
    assert(value == 1);

    // Go offline and update, one updater at a time.
    seen1.store(0);
    lock(mutex);
    which = current.load();
    if (which) {
        slot0.store(1);
        current.store(0);
    } else {
        slot1.store(1);
        current.store(1);
    }
    period = period_now.load();
    period = period + 1;
    period_now.store(period);
    fence;
    wait(seen2, 0, period);
    wait(seen3, 0, period);
    if (which) {
        slot1.store(0);
    } else {
        slot0.store(0);
    }
    unlock(mutex);

    // Come online again and read.
    period = period_now.load();
    seen1.store(period);
    fence;
    which = current.load();
    if (which) {
        value = slot1.load();
    } else {
        value = slot0.load();
    }
    assert(value == 1);
    seen1.store(0);
}

fn updater2 {
    local period, which, value;
    // Come online and read.
    period = period_now.load();
    seen2.store(period);
    fence;
    which = current.load();
    if (which) {
        value = slot1.load();
    } else {
        value = slot0.load();
    }
    assert(value == 1);

    // Go offline and update, one updater at a time.
    seen2.store(0);
    lock(mutex);
    which = current.load();
    if (which) {
        slot0.store(1);
        current.store(0);
    } else {
        slot1.store(1);
        current.store(1);
    }
    period = period_now.load();
    period = period + 1;
    period_now.store(period);
    fence;
    wait(seen1, 0, period);
    wait(seen3, 0, period);
    if (which) {
        slot1.store(0);
    } else {
        slot0.store(0);
    }
    unlock(mutex);

    // Come online again and read.
    period = period_now.load();
    seen2.store(period);
    fence;
    which = current.load();
    if (which) {
        value = slot1.load();
    } else {
        value = slot0.load();
    }
    assert(value == 1);
    seen2.store(0);
}

fn reader {
    local period, which, value;
    while (true) {
        // Come online; the fence lets updaters see it.
        period = period_now.load();
        seen3.store(period);
        fence;
        oneof (
            {
                which = current.load();
                if (which) {
                    value = slot1.load();
                } else {
                    value = slot0.load();
                }
                assert(value == 1);
            }
            {
                // Read twice with a quiescent state in between.
                which = current.load();
                if (which) {
                    value = slot1.load();
                } else {
                    value = slot0.load();
                }
                assert(value == 1);
                period = period_now.load();
                seen3.store(period);
                which = current.load();
                if (which) {
                    value = slot1.load();
                } else {
                    value = slot0.load();
                }
                assert(value == 1);
            }
        );
        seen3.store(0);
        period = 0;
        which = 0;
        value = 0;
    }
}
