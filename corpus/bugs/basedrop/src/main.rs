//! basedrop 0.1.3: `SharedCell::get` announces a reader and then loads the pointer, `SharedCell::replace` swaps the pointer and then looks for
//! readers, which is store buffering, but only one side is SC: the writer may miss a reader and give up a node that the reader is about
//! to take (micahrj/basedrop#10, not fixed yet).
//@ crate: basedrop 0.1.3
//@ expect: src/shared_cell.rs:117  `readers.load(Relaxed)` in `replace`

use basedrop::{Collector, Shared, SharedCell};
use std::sync::Arc;
use std::thread::{scope, yield_now};

fn main() {
    let mut collector = Collector::new();
    let handle = collector.handle();
    let cell = Arc::new(SharedCell::new(Shared::new(&handle, 0)));
    scope(|s| {
        s.spawn(|| {
            for i in 0..500 {
                cell.set(Shared::new(&handle, i));
                yield_now();
            }
        });
        for _ in 0..2 {
            s.spawn(|| {
                for _ in 0..500 {
                    assert!(*cell.get() < 500);
                }
            });
        }
        s.spawn(|| {
            for _ in 0..100 {
                collector.collect();
                yield_now();
            }
        });
    });
}
