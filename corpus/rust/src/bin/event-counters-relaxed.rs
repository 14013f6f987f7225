//! Threads count events without order, but say without release that they are done (Margalit & Lahav, POPL 2021).
//@ run: not-robust
//@ args: 2 | 3 | 4 | 5 | 6 | 7 | 8

use corpus::{must, nothing, run, threads};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*};
use std::thread::yield_now;

const MOST: usize = 8;
const EVENTS: usize = 20;
static COUNT: [AtomicUsize; MOST] = [const { AtomicUsize::new(0) }; MOST];
static DONE: [AtomicBool; MOST] = [const { AtomicBool::new(false) }; MOST];

fn main() {
    let threads = threads(MOST);
    let body = |me: usize| {
        if me > 0 {
            for i in 0..EVENTS {
                COUNT[(me + i * i) % MOST].fetch_add(1, Relaxed); //~ missed
            }
            DONE[me].store(true, Relaxed);
            return;
        }
        for other in 1..threads {
            while !DONE[other].load(Acquire) {
                yield_now();
            }
        }
        let mut sum = 0;
        for count in &COUNT {
            sum += count.load(Relaxed); //~ stale
        }
        must(sum == EVENTS * (threads - 1));
    };
    run(threads, 1, body, nothing);
}
