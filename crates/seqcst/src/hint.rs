//! Hints with the interface of [`std::hint`].

pub use std::hint::{assert_unchecked, black_box, unreachable_unchecked};

use crate::rt;

/// This thread waits in a loop: inside a model, it need not run until something that it has read changes.
pub fn spin_loop() {
    if rt::inside() {
        rt::access::hint();
    } else {
        std::hint::spin_loop();
    }
}
