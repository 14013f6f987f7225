//! A gate whose opener wakes who is waiting, with SC accesses (after the sleeping barber: Dijkstra, EWD 123, 1965).
//@ run: robust

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*};
use std::thread;

static WAITING: AtomicUsize = AtomicUsize::new(0);
static OPEN: AtomicBool = AtomicBool::new(false);

fn main() {
    for _ in 0..20 {
        WAITING.store(0, SeqCst);
        OPEN.store(false, SeqCst);
        let waiter = thread::spawn(|| {
            corpus::dawdle();
            WAITING.fetch_add(1, SeqCst);
            while !OPEN.load(SeqCst) {
                thread::park();
            }
        });
        corpus::dawdle();
        OPEN.store(true, SeqCst);
        if WAITING.load(SeqCst) > 0 {
            waiter.thread().unpark();
        }
        waiter.join().unwrap();
    }
}
