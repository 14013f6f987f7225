//! A queue for many senders and one receiver (Vyukov).

use seqcst::cell::UnsafeCell;
use seqcst::sync::atomic::{AtomicPtr, Ordering};
use std::ptr;

struct Node<T> {
    next: AtomicPtr<Node<T>>,
    value: UnsafeCell<Option<T>>,
}

pub struct Queue<T> {
    head: AtomicPtr<Node<T>>,
    tail: UnsafeCell<*mut Node<T>>,
}

// SAFETY: values are handed over; the tail belongs to the receiver.
unsafe impl<T: Send> Sync for Queue<T> {}
// SAFETY: it owns its nodes.
unsafe impl<T: Send> Send for Queue<T> {}

impl<T> Node<T> {
    fn new(value: Option<T>) -> *mut Node<T> {
        let next = AtomicPtr::new(ptr::null_mut());
        Box::into_raw(Box::new(Node { next, value: UnsafeCell::new(value) }))
    }
}

impl<T> Queue<T> {
    pub fn new() -> Queue<T> {
        let stub = Node::new(None);
        Queue { head: AtomicPtr::new(stub), tail: UnsafeCell::new(stub) }
    }

    /// Any thread.
    pub fn push(&self, value: T, publish: Ordering) {
        let node = Node::new(Some(value));
        let before = self.head.swap(node, Ordering::AcqRel);
        // SAFETY: the receiver frees a node only after it has seen the next one.
        unsafe { (*before).next.store(node, publish) };
    }

    /// One thread.
    pub fn pop(&self) -> Option<T> {
        self.tail.with_mut(|tail| {
            // SAFETY: only the receiver is here.
            unsafe {
                let next = (**tail).next.load(Ordering::Acquire);
                if next.is_null() {
                    return None;
                }
                let value = (*next).value.with_mut(|value| (*value).take());
                drop(Box::from_raw(*tail));
                *tail = next;
                value
            }
        })
    }
}

impl<T> Drop for Queue<T> {
    fn drop(&mut self) {
        while self.pop().is_some() {}
        // SAFETY: the last node.
        self.tail.with_mut(|tail| drop(unsafe { Box::from_raw(*tail) }));
    }
}
