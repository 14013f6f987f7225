//! A gate whose opener wakes who is waiting: SC loads stand where fences should, and the wake-up gets lost, on x86 too (after the sleeping barber: Dijkstra, EWD 123, 1965).
//@ run: not-robust

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
            WAITING.fetch_add(1, AcqRel); //~ missed
            while !OPEN.load(SeqCst) { //~ stale
                thread::park();
            }
        });
        corpus::dawdle();
        OPEN.store(true, Release); //~ missed
        if WAITING.load(SeqCst) > 0 { //~ stale
            waiter.thread().unpark();
        }
        waiter.join().unwrap();
    }
}
