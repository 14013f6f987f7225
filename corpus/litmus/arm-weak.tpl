// A store that seems to be read before its own thread's load: ARMv7 allows it (Chakraborty, FMCAD 2021, Fig. 2).
//@ sc: robust
//@ ra: robust
//@ rc11: not-robust
//@ rc20: not-robust
//@ tso: robust
//
// The outcome a = 1 through the copies is a cycle of program order and reads-from, which C11 models forbid;
// relaxed copies (rc20) may still put the last store before the first in modification order.

max_value 1;
global x, y;

fn first {
    local a;
    a = x.load();
    x.store(1);
}

fn copies_x_to_y {
    local b;
    b = x.load();
    y.store(b);
}

fn copies_y_to_x {
    local c;
    c = y.load();
    x.store(c);
}
