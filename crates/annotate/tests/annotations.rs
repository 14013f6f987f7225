//! The functions do what they say, with and without the runtime.

use seqcst_annotate::{blocking_compare_exchange, compare_exchange, wait_until};
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicI16, AtomicPtr, AtomicU8, AtomicU32, AtomicUsize};

#[test]
fn waiting() {
    let (flag, data) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            data.store(7, Relaxed);
            flag.store(true, Release);
        });
        wait_until(&flag, true, Acquire);
        assert_eq!(data.load(Relaxed), 7);
    });
}

#[test]
fn a_lock() {
    let (lock, count) = (AtomicU8::new(0), AtomicU32::new(0));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..100 {
                    blocking_compare_exchange(&lock, 0, 1, Acquire);
                    count.store(count.load(Relaxed) + 1, Relaxed);
                    lock.store(0, Release);
                }
            });
        }
    });
    assert_eq!(count.into_inner(), 400);
}

#[test]
fn strong_compare_and_swap() {
    let number = AtomicI16::new(-3);
    assert_eq!(compare_exchange(&number, -3, -4, AcqRel, Relaxed), Ok(-3));
    assert_eq!(compare_exchange(&number, -3, 5, AcqRel, Relaxed), Err(-4));
    let mut place = 1;
    let pointer = AtomicPtr::new(std::ptr::null_mut());
    let new: *mut i32 = &mut place;
    assert_eq!(
        compare_exchange(&pointer, std::ptr::null_mut(), new, Release, Acquire),
        Ok(std::ptr::null_mut())
    );
    wait_until(&pointer, new, Acquire);
}
