// Load buffering: every model here forbids cycles of program order and reads-from (Lahav et al., RC11, PLDI 2017).
//@ sc: robust
//@ ra: robust
//@ rc11: robust
//@ rc20: robust
//@ tso: robust

max_value 1;
global x, y;

fn left {
    local a;
    a = x.load();
    y.store(1);
}

fn right {
    local b;
    b = y.load();
    x.store(1);
}
