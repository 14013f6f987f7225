//! Verdicts of all small clients, against the answers to expect.

use super::libraries::*;
use seqcst_library::client::{Bounds, Limits, Tried, try_witness};
use seqcst_library::code::Library;
use seqcst_library::code::Mode::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use seqcst_library::rho::apply;
use std::time::Duration;

/// Is there a client with so many threads and calls that is not robust?
fn refuted(library: &Library, threads: usize, calls: usize) -> Option<String> {
    let limits = Limits { time: Duration::from_secs(20), ..Limits::default() };
    let bounds = Bounds { threads, calls, limits, time: Duration::from_secs(60) };
    match try_witness(&apply(library).library, &[], &bounds) {
        Tried::Confirmed(found) => Some(found.client.to_string()),
        Tried::NotConfirmed(searched) => {
            assert!(searched.open.is_empty() && searched.left == 0, "{searched}");
            None
        }
    }
}

#[test]
fn registers() {
    assert_eq!(refuted(&register(Release, Acquire), 3, 2), None);
    assert_eq!(refuted(&fenced_register(Some(Release), Relaxed, Relaxed, Some(Acquire)), 3, 2), None);
    for broken in [
        register(Relaxed, Acquire),
        register(Release, Relaxed),
        fenced_register(None, Relaxed, Relaxed, Some(Acquire)),
        fenced_register(Some(Release), Relaxed, Relaxed, None),
        fenced_register(Some(Acquire), Relaxed, Relaxed, Some(Acquire)),
    ] {
        assert_eq!(refuted(&broken, 2, 1).unwrap(), "thread 1: set(1)\nthread 2: get()");
    }
}

#[test]
fn one_location_is_robust_with_any_orders() {
    for (write, read) in [(Relaxed, Relaxed), (Release, Acquire), (SeqCst, SeqCst)] {
        assert_eq!(refuted(&one_location(write, read), 3, 2), None);
    }
}

#[test]
fn two_locations_are_not() {
    assert!(refuted(&two_registers(Release, Acquire), 2, 2).is_some());
    assert!(refuted(&store_buffering(Release, Acquire), 2, 1).is_some());
    assert!(refuted(&message_passing(Release, Acquire), 3, 2).is_some());
    assert_eq!(refuted(&store_buffering(SeqCst, SeqCst), 3, 2), None);
}

#[test]
fn stacks() {
    assert_eq!(refuted(&treiber([Relaxed, Release, Acquire, Relaxed]), 3, 1), None);
    for push_load in [Relaxed, Acquire] {
        for push_cas in [Relaxed, Acquire, Release, AcqRel] {
            for pop_load in [Relaxed, Acquire] {
                for pop_cas in [Relaxed, AcqRel] {
                    let orders = [push_load, push_cas, pop_load, pop_cas];
                    let expected = push_cas.is_release() && pop_load == Acquire;
                    assert_eq!(refuted(&treiber(orders), 2, 2).is_none(), expected, "{orders:?}");
                }
            }
        }
    }
}

#[test]
fn rings() {
    // Two calls each are not enough, but there can be two threads only.
    assert!(refuted(&ring(Release, Acquire, false), 2, 2).is_none());
    let client = refuted(&ring(Release, Acquire, false), 3, 2).unwrap();
    assert_eq!(client, "thread 1: dequeue(); dequeue()\nthread 2: enqueue(1); enqueue(2); enqueue(3)");
    assert_eq!(refuted(&ring(Release, Acquire, true), 3, 2), None);
    assert!(refuted(&ring(Relaxed, Acquire, true), 2, 2).is_some());
    assert!(refuted(&ring(Release, Relaxed, true), 2, 2).is_some());
}

#[test]
fn arrays_without_end() {
    assert_eq!(refuted(&unbounded(Release, Acquire), 2, 3), None);
    assert!(refuted(&unbounded(Relaxed, Acquire), 2, 2).is_some());
    assert!(refuted(&unbounded(Release, Relaxed), 2, 2).is_some());
}

const QUEUE: Queue = Queue {
    load: Acquire,
    next_load: Acquire,
    next_cas: Release,
    tail_cas: Release,
    head_load: Acquire,
    head_cas: Release,
};

#[test]
fn queues() {
    assert_eq!(refuted(&QUEUE.library(), 2, 2), None);
    for (broken, threads, calls) in [
        (Queue { next_cas: Relaxed, ..QUEUE }, 2, 2),
        (Queue { tail_cas: Relaxed, ..QUEUE }, 2, 2),
        (Queue { load: Relaxed, ..QUEUE }, 2, 2),
        (Queue { next_load: Relaxed, ..QUEUE }, 2, 2),
        (Queue { head_load: Relaxed, ..QUEUE }, 3, 2),
        (Queue { head_cas: Acquire, ..QUEUE }, 3, 2),
    ] {
        assert!(refuted(&broken.library(), threads, calls).is_some());
    }
}
