// A wait for a value that another thread copies twice: a plain load in its place could be stale, but only with value 0,
// which the wait does not take (after the value-sensitive reads of [Rocker19] §2.3 and [RSAN25] §4.3).
//@ sc: robust
//@ ra: robust
//@ rc11: robust
//@ rc20: robust
//@ tso: robust
max_value 2;
global given, echoed;

fn asker {
    given.store(1);
    wait(echoed, 1);
}

fn echo {
    local seen;
    seen = given.load();
    echoed.store(seen);
    seen = given.load();
    echoed.store(seen);
}
