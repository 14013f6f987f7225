//! Data structures, correct and with a bug that only weak memory shows.

#![allow(unsafe_code)] // cells and pointers

mod structures {
    pub mod queue;
    pub mod seqlock;
    pub mod spinlock;
    pub mod stack;
}

use seqcst::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use seqcst::sync::{Arc, atomic::AtomicUsize};
use seqcst::{Builder, Exploration, Problem, thread};
use structures::{queue::Queue, seqlock::Seqlock, spinlock::Spinlock, stack::Stack};

fn explore(f: impl Fn()) -> Exploration {
    let exploration = Builder::default().explore(f);
    println!("{}\n{}", exploration.summary(), exploration.report().unwrap_or_default());
    exploration
}

#[track_caller]
fn fine(f: impl Fn()) {
    let exploration = explore(f);
    assert_eq!(exploration.problem(), None);
    assert!(exploration.is_exhaustive());
}

#[track_caller]
fn races(f: impl Fn()) {
    assert!(matches!(explore(f).problem(), Some(Problem::Race(..))));
}

#[track_caller]
fn stale(f: impl Fn()) {
    assert!(matches!(explore(f).problem(), Some(Problem::Stale(_))));
}

fn spinlock(release: seqcst::sync::atomic::Ordering) -> impl Fn() {
    move || {
        let lock = Arc::new(Spinlock::new(0));
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let lock = lock.clone();
                thread::spawn(move || lock.with(release, |value| *value += 1))
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(lock.with(release, |value| *value), 2);
    }
}

#[test]
fn spinlocks() {
    fine(spinlock(Release));
    races(spinlock(Relaxed));
}

fn queue(publish: seqcst::sync::atomic::Ordering) -> impl Fn() {
    move || {
        let queue = Arc::new(Queue::new());
        let senders: Vec<_> = (0..2)
            .map(|number| {
                let queue = queue.clone();
                thread::spawn(move || queue.push(number, publish))
            })
            .collect();
        let mut got = Vec::new();
        while got.len() < 2 {
            match queue.pop() {
                Some(value) => got.push(value),
                None => thread::yield_now(),
            }
        }
        senders.into_iter().for_each(|thread| thread.join().unwrap());
        got.sort_unstable();
        assert_eq!(got, [0, 1]);
    }
}

#[test]
fn queues() {
    fine(queue(Release));
    races(queue(Relaxed));
}

fn stack(publish: seqcst::sync::atomic::Ordering) -> impl Fn() {
    move || {
        let stack = Arc::new(Stack::new());
        let pushing = {
            let stack = stack.clone();
            thread::spawn(move || stack.push(1, publish))
        };
        let popped = stack.pop();
        pushing.join().unwrap();
        let rest = stack.pop();
        assert_eq!(popped.or(rest), Some(1));
    }
}

#[test]
fn stacks() {
    fine(stack(Release));
    races(stack(Relaxed));
}

fn seqlock(publish: seqcst::sync::atomic::Ordering) -> impl Fn() {
    move || {
        let lock = Arc::new(Seqlock::new());
        let writer = {
            let lock = lock.clone();
            thread::spawn(move || lock.write(1, publish))
        };
        let (a, b) = lock.read();
        assert_eq!(a, b);
        writer.join().unwrap();
    }
}

#[test]
fn seqlocks() {
    fine(seqlock(Release));
    stale(seqlock(Relaxed));
}

/// Who drops the last reference sees what others did.
#[test]
fn reference_counts() {
    fn counted(release: seqcst::sync::atomic::Ordering) -> impl Fn() {
        move || {
            let count = Arc::new((AtomicUsize::new(2), seqcst::cell::UnsafeCell::new(0)));
            struct Shared(Arc<(AtomicUsize, seqcst::cell::UnsafeCell<i32>)>);
            // SAFETY: the cell is watched.
            unsafe impl Send for Shared {}
            let work = |shared: Shared, release| {
                let shared = shared;
                shared.0.1.with(|cell| unsafe { *cell });
                if shared.0.0.fetch_sub(1, release) == 1 {
                    seqcst::sync::atomic::fence(Acquire);
                    shared.0.1.with_mut(|cell| unsafe { *cell = 1 });
                }
            };
            let shared = Shared(count.clone());
            let other = thread::spawn(move || work(shared, release));
            work(Shared(count), release);
            other.join().unwrap();
        }
    }
    fine(counted(AcqRel));
    fine(counted(Release));
    races(counted(Relaxed));
}
