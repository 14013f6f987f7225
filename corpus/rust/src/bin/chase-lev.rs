//! Work-stealing deque with the published fences, of fixed size (Chase & Lev, SPAA 2005; Lê et al., Correct and efficient work-stealing for weak memory models, PPoPP 2013).
//@ run: not-robust

use corpus::{dawdle, must, nothing, run};
use std::sync::atomic::{AtomicBool, AtomicIsize, AtomicUsize, Ordering::*, fence};

const SIZE: isize = 8;
const TASKS: usize = 300;
static TOP: AtomicIsize = AtomicIsize::new(0);
static BOTTOM: AtomicIsize = AtomicIsize::new(0);
static SLOTS: [AtomicUsize; SIZE as usize] = [const { AtomicUsize::new(0) }; SIZE as usize];
static DONE: AtomicBool = AtomicBool::new(false);
static TAKEN: [AtomicUsize; TASKS] = [const { AtomicUsize::new(0) }; TASKS];

fn slot(index: isize) -> &'static AtomicUsize {
    &SLOTS[(index % SIZE) as usize]
}

fn push(task: usize) -> bool {
    let b = BOTTOM.load(Relaxed);
    let t = TOP.load(Acquire); //~ stale
    if b - t > SIZE - 1 {
        return false;
    }
    dawdle(); // Copying a task takes a while.
    slot(b).store(task, Relaxed);
    fence(Release);
    BOTTOM.store(b + 1, Relaxed); //~ missed
    true
}

fn take() -> Option<usize> {
    let b = BOTTOM.load(Relaxed) - 1;
    BOTTOM.store(b, Relaxed); //~ missed
    fence(SeqCst);
    let t = TOP.load(Relaxed);
    if t > b {
        BOTTOM.store(b + 1, Relaxed); //~ missed
        return None;
    }
    let task = slot(b).load(Relaxed);
    dawdle();
    let mut ours = true;
    if t == b {
        ours = TOP.compare_exchange(t, t + 1, SeqCst, Relaxed).is_ok(); //~ missed
        BOTTOM.store(b + 1, Relaxed); //~ missed
    }
    ours.then_some(task)
}

fn steal() -> Option<usize> {
    let t = TOP.load(Acquire);
    fence(SeqCst);
    let b = BOTTOM.load(Acquire); //~ stale
    if t >= b {
        return None;
    }
    let task = slot(t).load(Relaxed);
    dawdle();
    let ours = TOP.compare_exchange(t, t + 1, SeqCst, Relaxed).is_ok(); //~ stale missed
    ours.then_some(task)
}

fn finish(task: Option<usize>) {
    if let Some(task) = task {
        must(TAKEN[task].fetch_add(1, Relaxed) == 0);
    }
}

fn main() {
    let body = |role| {
        if role == 0 {
            let mut i = 0;
            while i < TASKS {
                i += push(i) as usize;
                if i % 4 == 0 {
                    finish(take());
                }
                std::thread::yield_now();
            }
            while BOTTOM.load(Relaxed) > TOP.load(SeqCst) {
                finish(take());
            }
            DONE.store(true, SeqCst);
        } else {
            while !DONE.load(SeqCst) {
                finish(steal());
                std::thread::yield_now();
            }
        }
    };
    run(3, 1, body, nothing);
    must(TAKEN.iter().all(|taken| taken.load(SeqCst) == 1));
}
