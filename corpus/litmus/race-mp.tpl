// Message passing that reads its data whatever the flag says: a race (Batty et al., C11, POPL 2011).
//@ sc: race
//@ ra: race
//@ rc11: race
//@ rc20: race
//@ tso: race

max_value 1;
global flag;
na data;

fn sender {
    data.nastore(1);
    flag.store(1, rel);
}

fn receiver {
    local f, d;
    f = flag.load(acq);
    d = data.naload();
}
