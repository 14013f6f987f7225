// A load that takes its value from its own store buffer is not ordered after older stores of others (after Sewell et al., x86-TSO, CACM 2010).
//@ sc: robust
//@ ra: not-robust
//@ rc11: not-robust
//@ rc20: not-robust
//@ tso: not-robust
//
// With x = 1 before x = 2 in memory, the second load may still miss y = 1, because the first one needs no
// memory.

max_value 2;
global x, y;

fn left {
    local r;
    r = y.load();
    y.store(1);
    x.store(1);
}

fn right {
    local r;
    x.store(2);
    r = x.load();
    r = y.load();
}
