// Non-blocking write protocol: a writer, a thread that locks and reads, one that reads and locks (Kopetz & Reisinger, The non-blocking write protocol NBW, RTSS 1993; client after Bouajjani, Derevenetc, Meyer, ESOP 2013).
//@ sc: robust
//@ ra: robust
//@ rc11: not-robust
//@ rc20: not-robust
//@ tso: robust

max_value 8;
global ccf, low, high, mutex;

fn writer {
    local c, value;
    while (c < 8) {
        value = value + 1;
        ccf.store(c + 1);
        low.store(value);
        high.store(value);
        ccf.store(c + 2);
        c = c + 2;
    }
}

fn locks_then_reads {
    local begin, l, h, end;
    while (true) {
        lock(mutex);
      again:
        begin = ccf.load();
        if (begin % 2) goto again;
        l = low.load();
        h = high.load();
        end = ccf.load();
        if (begin != end) goto again;
        assert(l == h);
        unlock(mutex);
    }
}

fn reads_then_locks {
    local begin, l, h, end;
    while (true) {
      again:
        begin = ccf.load();
        if (begin % 2) goto again;
        l = low.load();
        h = high.load();
        end = ccf.load();
        if (begin != end) goto again;
        assert(l == h);
        lock(mutex);
        unlock(mutex);
    }
}
