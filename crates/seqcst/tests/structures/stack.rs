//! A stack (Treiber). Nodes are kept until the stack is dropped, which needs no scheme to reclaim them.

use seqcst::cell::UnsafeCell;
use seqcst::sync::atomic::{AtomicPtr, Ordering};
use std::ptr;

struct Node<T> {
    next: UnsafeCell<*mut Node<T>>,
    value: UnsafeCell<T>,
}

pub struct Stack<T> {
    head: AtomicPtr<Node<T>>,
}

// SAFETY: values are copied.
unsafe impl<T: Send> Sync for Stack<T> {}
// SAFETY: the same.
unsafe impl<T: Send> Send for Stack<T> {}

impl<T: Copy> Stack<T> {
    pub fn new() -> Stack<T> {
        Stack { head: AtomicPtr::new(ptr::null_mut()) }
    }

    pub fn push(&self, value: T, publish: Ordering) {
        let next = UnsafeCell::new(ptr::null_mut());
        let node = Box::into_raw(Box::new(Node { next, value: UnsafeCell::new(value) }));
        let mut head = self.head.load(Ordering::Relaxed);
        loop {
            // SAFETY: nobody else has the node yet.
            unsafe { (*node).next.with_mut(|next| *next = head) };
            match self.head.compare_exchange_weak(head, node, publish, Ordering::Relaxed) {
                Ok(_) => return,
                Err(found) => head = found,
            }
        }
    }

    pub fn pop(&self) -> Option<T> {
        let mut head = self.head.load(Ordering::Acquire);
        while !head.is_null() {
            // SAFETY: nodes are never freed.
            let next = unsafe { (*head).next.with(|next| *next) };
            match self.head.compare_exchange_weak(head, next, Ordering::Acquire, Ordering::Acquire) {
                // SAFETY: the same.
                Ok(_) => return Some(unsafe { (*head).value.with(|value| *value) }),
                Err(found) => head = found,
            }
        }
        None
    }
}
