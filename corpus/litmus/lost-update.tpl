// Two threads add one with a load and a store: an update gets lost under SC already (Dijkstra, 1965).
//@ sc: assertion
//@ ra: assertion
//@ rc11: assertion
//@ rc20: assertion
//@ tso: assertion

max_value 2;
global count, done;

fn adder[2] {
    local c, d;
    c = count.load(rlx);
    count.store(c + 1, rlx);
    d = FADD(done, 1, acq, rel);
}

fn checker {
    local c;
    wait(done, 2, acq);
    c = count.load(rlx);
    assert(c == 2);
}
