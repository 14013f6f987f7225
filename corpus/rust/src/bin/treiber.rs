//! Stack of boxes that are freed when all threads are done (Treiber, Systems programming: coping with parallelism, 1986).
//@ run: robust

use corpus::{must, nothing, run};
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicPtr, Ordering::*};

struct Node {
    next: *mut Node,
    value: usize,
}

static TOP: AtomicPtr<Node> = AtomicPtr::new(null_mut());

fn push(node: *mut Node) {
    let mut old = TOP.load(Relaxed);
    loop {
        // SAFETY: nobody else has the node yet.
        unsafe { (*node).next = old };
        match TOP.compare_exchange_weak(old, node, Release, Relaxed) {
            Ok(_) => return,
            Err(now) => old = now,
        }
    }
}

fn pop() -> *mut Node {
    let mut old = TOP.load(Acquire);
    while !old.is_null() {
        // SAFETY: nodes live as long as the program, and `next` does not change once a node is pushed.
        let next = unsafe { (*old).next };
        match TOP.compare_exchange_weak(old, next, Acquire, Acquire) {
            Ok(_) => break,
            Err(now) => old = now,
        }
    }
    old
}

fn main() {
    let body = |role| {
        for _ in 0..100 {
            push(Box::into_raw(Box::new(Node { next: null_mut(), value: role })));
        }
        for _ in 0..100 {
            let node = pop();
            must(node.cast_const() != null());
            // SAFETY: popped once, so it is ours.
            must(unsafe { (*node).value } < 3);
        }
    };
    run(3, 1, body, nothing);
}
