// The tests, included once for each tool, whose types they find in `tool`. Each comes correct and with a bug.

use std::ptr;
use tool::{Arc, AtomicBool, AtomicPtr, AtomicUsize, Ordering, Ordering::*, UnsafeCell, fence, thread};

/// All tests by name; true: with the bug.
pub const TESTS: [(&str, fn(bool)); 6] = [
    ("counter", counter),
    ("spinlock", spinlock),
    ("MPSC queue", queue),
    ("Treiber stack", stack),
    ("seqlock", seqlock),
    ("Dekker, SeqCst", dekker),
];

/// The bug needs no weak memory: an update that isn't atomic.
fn counter(bug: bool) {
    let count = Arc::new(AtomicUsize::new(0));
    let threads: Vec<_> = (0..2)
        .map(|_| {
            let count = count.clone();
            thread::spawn(move || {
                if bug {
                    count.store(count.load(SeqCst) + 1, SeqCst);
                } else {
                    count.fetch_add(1, Relaxed);
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(count.load(Relaxed), 2);
}

struct Spinlock {
    taken: AtomicBool,
    value: UnsafeCell<usize>,
}

// SAFETY: the value is used by who has taken the lock.
unsafe impl Sync for Spinlock {}
unsafe impl Send for Spinlock {}

impl Spinlock {
    fn add(&self, release: Ordering) -> usize {
        while self.taken.compare_exchange(false, true, Acquire, Relaxed).is_err() {
            thread::yield_now();
        }
        let sum = self.value.with_mut(|value| unsafe {
            *value += 1;
            *value
        });
        self.taken.store(false, release);
        sum
    }
}

/// The bug: the lock is given back by a relaxed store.
fn spinlock(bug: bool) {
    let release = if bug { Relaxed } else { Release };
    let lock = Arc::new(Spinlock { taken: AtomicBool::new(false), value: UnsafeCell::new(0) });
    let threads: Vec<_> = (0..2)
        .map(|_| {
            let lock = lock.clone();
            thread::spawn(move || lock.add(release))
        })
        .collect();
    let sums: usize = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
    assert_eq!(sums, 3);
}

struct Node {
    next: AtomicPtr<Node>,
    value: UnsafeCell<usize>,
}

fn node(value: usize) -> *mut Node {
    Box::into_raw(Box::new(Node { next: AtomicPtr::new(ptr::null_mut()), value: UnsafeCell::new(value) }))
}

/// Many senders, one receiver (Vyukov).
struct Queue {
    head: AtomicPtr<Node>,
    tail: UnsafeCell<*mut Node>,
}

// SAFETY: values are handed over; the tail belongs to the receiver.
unsafe impl Sync for Queue {}
unsafe impl Send for Queue {}

impl Queue {
    fn push(&self, value: usize, publish: Ordering) {
        let node = node(value);
        let before = self.head.swap(node, AcqRel);
        // SAFETY: the receiver frees a node only after it has seen the next one.
        unsafe { (*before).next.store(node, publish) };
    }

    fn pop(&self) -> Option<usize> {
        let tail = self.tail.with(|tail| unsafe { *tail });
        // SAFETY: only the receiver is here.
        unsafe {
            let next = (*tail).next.load(Acquire);
            if next.is_null() {
                return None;
            }
            let value = (*next).value.with(|value| *value);
            self.tail.with_mut(|tail| *tail = next);
            drop(Box::from_raw(tail));
            Some(value)
        }
    }
}

/// The bug: nodes are published by a relaxed store.
fn queue(bug: bool) {
    let publish = if bug { Relaxed } else { Release };
    let stub = node(0);
    let queue = Arc::new(Queue { head: AtomicPtr::new(stub), tail: UnsafeCell::new(stub) });
    let senders: Vec<_> = (1..3)
        .map(|number| {
            let queue = queue.clone();
            thread::spawn(move || queue.push(number, publish))
        })
        .collect();
    let mut sum = 0;
    for _ in 0..2 {
        sum += loop {
            match queue.pop() {
                Some(value) => break value,
                None => thread::yield_now(),
            }
        };
    }
    senders.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(sum, 3);
    drop(unsafe { Box::from_raw(queue.tail.with(|tail| *tail)) });
}

/// Nodes are kept until the end (Treiber's stack needs a scheme to reclaim them, which is not the point here).
struct Stack {
    head: AtomicPtr<Node>,
}

impl Stack {
    fn push(&self, node: *mut Node, publish: Ordering) {
        let mut head = self.head.load(Relaxed);
        loop {
            // SAFETY: nodes stay.
            unsafe { (*node).next.store(head, Relaxed) };
            match self.head.compare_exchange(head, node, publish, Relaxed) {
                Ok(_) => return,
                Err(found) => head = found,
            }
        }
    }

    fn pop(&self) -> Option<usize> {
        let mut head = self.head.load(Acquire);
        while !head.is_null() {
            // SAFETY: nodes stay.
            let next = unsafe { (*head).next.load(Relaxed) };
            match self.head.compare_exchange(head, next, Acquire, Acquire) {
                Ok(_) => return Some(unsafe { (*head).value.with(|value| *value) }),
                Err(found) => head = found,
            }
        }
        None
    }
}

/// The bug: nodes are published by a relaxed exchange.
fn stack(bug: bool) {
    let publish = if bug { Relaxed } else { Release };
    let stack = Arc::new(Stack { head: AtomicPtr::new(ptr::null_mut()) });
    let threads: Vec<_> = (1..3)
        .map(|number| {
            let stack = stack.clone();
            thread::spawn(move || {
                let node = node(number);
                stack.push(node, publish);
                node as usize
            })
        })
        .collect();
    let early = stack.pop().unwrap_or(0);
    let nodes: Vec<usize> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    let late: usize = std::iter::from_fn(|| stack.pop()).sum();
    assert_eq!(early + late, 3);
    nodes.into_iter().for_each(|node| drop(unsafe { Box::from_raw(node as *mut Node) }));
}

struct Seqlock {
    version: AtomicUsize,
    values: [AtomicUsize; 2],
}

impl Seqlock {
    fn write(&self, value: usize, publish: Ordering) {
        let version = self.version.load(Relaxed);
        self.version.store(version + 1, Relaxed);
        fence(Release);
        self.values[0].store(value, Relaxed);
        self.values[1].store(value, Relaxed);
        self.version.store(version + 2, publish);
    }

    fn read(&self) -> [usize; 2] {
        loop {
            let before = self.version.load(Acquire);
            if before % 2 == 0 {
                let values = [self.values[0].load(Relaxed), self.values[1].load(Relaxed)];
                fence(Acquire);
                if self.version.load(Relaxed) == before {
                    return values;
                }
            }
            thread::yield_now();
        }
    }
}

/// The bug: the version is published by a relaxed store.
fn seqlock(bug: bool) {
    let publish = if bug { Relaxed } else { Release };
    let values = [AtomicUsize::new(0), AtomicUsize::new(0)];
    let lock = Arc::new(Seqlock { version: AtomicUsize::new(0), values });
    let writer = {
        let lock = lock.clone();
        thread::spawn(move || lock.write(1, publish))
    };
    let [a, b] = lock.read();
    writer.join().unwrap();
    assert_eq!(a, b);
}

/// Two threads, each of which enters if the other doesn't want to. The bug: release and acquire are too weak.
fn dekker(bug: bool) {
    let (set, get) = if bug { (Release, Acquire) } else { (SeqCst, SeqCst) };
    let wants = Arc::new([AtomicBool::new(false), AtomicBool::new(false)]);
    let other = wants.clone();
    let thread = thread::spawn(move || {
        other[1].store(true, set);
        !other[0].load(get)
    });
    wants[0].store(true, set);
    let entered = !wants[1].load(get);
    assert!(!(thread.join().unwrap() && entered), "both are in");
}
