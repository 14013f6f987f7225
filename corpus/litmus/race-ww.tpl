// Two writes to a location that is not atomic (Batty et al., C11, POPL 2011).
//@ sc: race
//@ ra: race
//@ rc11: race
//@ rc20: race
//@ tso: race

max_value 2;
na data;

fn left { data.nastore(1); }

fn right { data.nastore(2); }
