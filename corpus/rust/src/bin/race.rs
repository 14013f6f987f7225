//! Two threads write what is not atomic, and nothing orders them.
//@ run: race

use corpus::{Plain, nothing, run};

static SHARED: Plain<usize> = Plain::new(0);

fn main() {
    let body = |role| {
        SHARED.set(role); //~ race
    };
    run(2, 10, body, nothing);
}
