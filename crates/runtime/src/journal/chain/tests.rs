//! Journals made by hand: the litmus tests that people know, seen from the thread that is about to read.

use super::*;
use Edge::*;
use Mode::{Acquire, Relaxed, Release, SeqCst};

const X: usize = 0x100;
const Y: usize = 0x200;
const Z: usize = 0x300;

/// Threads numbered from 1, in slots of the same number; times count events.
fn journals(threads: &[&[(EventKind, usize, u32, Mode)]]) -> Vec<(Slot, Vec<(u32, Event)>)> {
    let events = |thread: usize, events: &[(EventKind, usize, u32, Mode)]| {
        let event = |(index, &(what, addr, write, mode)): (usize, &(EventKind, usize, u32, Mode))| {
            let site = Site(thread as u32 * 100 + index as u32);
            (thread as u32, Event { time: index as u32, write, addr, life: 0, site, what, mode, size: 4 })
        };
        events.iter().enumerate().map(event).collect()
    };
    threads.iter().enumerate().map(|(i, list)| (i as Slot + 1, events(i + 1, list))).collect()
}

fn found(threads: &[&[(EventKind, usize, u32, Mode)]], from: (Slot, Time), to: Slot) -> Vec<Link> {
    let journals = journals(threads);
    let addr = journals[usize::from(from.0) - 1].1[from.1 as usize].1.addr;
    find(&journals, (from.0, from.1, addr), to)
}

/// Site and edge of every link.
fn steps(links: &[Link]) -> Vec<(u32, Edge)> {
    links.iter().map(|link| (link.site.0, link.edge)).collect()
}

#[test]
fn store_buffering() {
    let links = found(
        &[
            &[(EventKind::Store, X, 1, Relaxed), (EventKind::Load, Y, 0, Relaxed)],
            &[(EventKind::Store, Y, 1, Relaxed)],
        ],
        (1, 0),
        2,
    );
    assert_eq!(steps(&links), [(100, Start), (101, Program), (200, FromRead)]);
    assert!(links.iter().all(|link| !link.fenced));
}

#[test]
fn message_passing() {
    let links = found(
        &[
            &[(EventKind::Store, X, 1, Relaxed), (EventKind::Store, Y, 1, Release)],
            &[(EventKind::Load, Y, 1, Relaxed)],
        ],
        (1, 0),
        2,
    );
    assert_eq!(steps(&links), [(100, Start), (101, Program), (200, ReadsFrom)]);
    assert!(links[1].released && !links[2].acquired);
}

#[test]
fn three_threads() {
    // Write, read and write, read (causality).
    let threads: &[&[_]] = &[
        &[(EventKind::Store, X, 1, Relaxed)],
        &[
            (EventKind::Load, Z, 0, Relaxed),
            (EventKind::Load, X, 1, Relaxed),
            (EventKind::Store, Y, 1, Relaxed),
        ],
        &[(EventKind::Load, Y, 0, Relaxed), (EventKind::Load, Y, 1, Relaxed)],
    ];
    let expected = [(100, Start), (201, ReadsFrom), (202, Program), (301, ReadsFrom)];
    assert_eq!(steps(&found(threads, (1, 0), 3)), expected);
}

#[test]
fn independent_reads() {
    let threads: &[&[_]] = &[
        &[(EventKind::Store, X, 1, Relaxed)],
        &[(EventKind::Store, Y, 1, Relaxed)],
        &[
            (EventKind::Load, X, 1, Acquire),
            (EventKind::Fence, 0, 0, SeqCst),
            (EventKind::Load, Y, 0, Acquire),
        ],
        &[(EventKind::Load, Y, 1, Acquire)],
    ];
    let links = found(threads, (1, 0), 4);
    let expected = [(100, Start), (300, ReadsFrom), (302, Program), (200, FromRead), (400, ReadsFrom)];
    assert_eq!(steps(&links), expected);
    assert_eq!(links.iter().map(|link| link.fenced).collect::<Vec<_>>(), [false, true, false, false, false]);
}

#[test]
fn reads_are_preferred_to_overwriting() {
    // By fr in one step, by rf through the third thread in two.
    let threads: &[&[_]] = &[
        &[
            (EventKind::Store, X, 1, Relaxed),
            (EventKind::Load, Y, 0, Relaxed),
            (EventKind::Store, Z, 1, Relaxed),
        ],
        &[(EventKind::Store, Y, 1, Relaxed), (EventKind::Load, Y, 5, Relaxed)],
        &[(EventKind::Load, Z, 1, Relaxed), (EventKind::Store, Y, 5, Relaxed)],
    ];
    let expected = [(100, Start), (102, Program), (300, ReadsFrom), (301, Program), (201, ReadsFrom)];
    assert_eq!(steps(&found(threads, (1, 0), 2)), expected);
}

#[test]
fn release_sequences() {
    let sequence: &[&[_]] = &[
        &[(EventKind::Store, X, 1, Relaxed), (EventKind::Store, Y, 4, Release)],
        &[(EventKind::Load, Y, 6, Acquire)],
        &[(EventKind::Rmw, Y, 5, Relaxed)],
        &[(EventKind::Rmw, Y, 6, Relaxed)],
    ];
    assert_eq!(steps(&found(sequence, (1, 0), 2)), [(100, Start), (101, Program), (200, ReadsFrom)]);
    let broken: &[&[_]] = &[
        sequence[0],
        sequence[1],
        &[(EventKind::Store, Y, 5, Relaxed)],
        &[(EventKind::Load, Z, 0, Relaxed)],
    ];
    assert_eq!(steps(&found(broken, (1, 0), 2)), [(100, Start), (101, Program), (200, ReadsLater)]);
}

#[test]
fn overwriting_and_fences() {
    let threads: &[&[_]] = &[
        &[
            (EventKind::Store, X, 1, Relaxed),
            (EventKind::Fence, 0, 0, Mode::AcqRel),
            (EventKind::Store, Y, 1, Relaxed),
        ],
        &[(EventKind::Rmw, Y, 3, Relaxed), (EventKind::Fence, 0, 0, Acquire)],
    ];
    let links = found(threads, (1, 0), 2);
    assert_eq!(steps(&links), [(100, Start), (102, Program), (200, Overwrites)]);
    assert!(links[1].released && links[2].acquired && !links[0].fenced);
}

#[test]
fn objects_and_threads() {
    let mutex: &[&[_]] = &[
        &[(EventKind::Store, X, 1, Relaxed), (EventKind::Release, Y, 7, Release)],
        &[
            (EventKind::Release, Y, 8, Release),
            (EventKind::Acquire, Y, 6, Acquire),
            (EventKind::Acquire, Y, 9, Acquire),
        ],
    ];
    assert_eq!(steps(&found(mutex, (1, 0), 2)), [(100, Start), (101, Program), (202, Synchronises)]);
    let births: &[&[_]] = &[
        &[(EventKind::Store, X, 1, Relaxed), (EventKind::Spawn, 2, 0, Release)],
        &[(EventKind::Begin, 2, 0, Acquire), (EventKind::End, 2, 0, Release)],
        &[(EventKind::Join, 2, 0, Acquire)],
    ];
    let expected = [(100, Start), (101, Program), (200, Synchronises), (201, Program), (300, Synchronises)];
    assert_eq!(steps(&found(births, (1, 0), 3)), expected);
}

#[test]
fn fences_in_order() {
    let threads: &[&[_]] = &[
        &[(EventKind::Store, X, 1, Relaxed)],
        &[(EventKind::Load, X, 1, Relaxed), (EventKind::Fence, 0, 4, SeqCst)],
        &[(EventKind::Fence, 0, 3, SeqCst), (EventKind::Fence, 0, 5, SeqCst)],
    ];
    let expected = [(100, Start), (200, ReadsFrom), (201, Program), (301, Synchronises)];
    assert_eq!(steps(&found(threads, (1, 0), 3)), expected);
    let unnumbered: &[&[_]] = &[
        threads[0],
        &[threads[1][0], (EventKind::Fence, 0, 0, SeqCst)],
        &[(EventKind::Fence, 0, 0, SeqCst)],
    ];
    assert_eq!(found(unnumbered, (1, 0), 3), []);
}

#[test]
fn the_access_itself_explains_nothing() {
    use crate::journal::Journal;
    let (left, right) = (Journal::of(901, 31), Journal::of(902, 32));
    let event = |time, what, addr, write| Event {
        time,
        write,
        addr,
        life: 0,
        site: Site::UNKNOWN,
        what,
        mode: Relaxed,
        size: 4,
    };
    left.push(event(5, EventKind::Store, X + 1, 1));
    left.push(event(6, EventKind::Release, Y + 1, 1));
    right.push(event(9, EventKind::Acquire, Y + 1, 1));
    right.push(event(9, EventKind::Load, X + 1, 1));
    let whats = |links: Vec<Link>| links.iter().map(|link| link.what).collect::<Vec<_>>();
    assert_eq!(
        whats(chain((901, 5, X + 1), (902, 9))),
        [EventKind::Store, EventKind::Release, EventKind::Acquire]
    );
    assert_eq!(whats(chain((901, 5, X + 1), (902, 8))), []);
}

#[test]
fn nothing_is_made_up() {
    let threads: &[&[_]] = &[
        &[(EventKind::Store, X, 1, Relaxed), (EventKind::Load, Y, 1, Relaxed)],
        &[(EventKind::Store, Y, 1, Relaxed)],
    ];
    assert_eq!(found(threads, (1, 0), 2), []);
    // Not in the journals, another life of the same address, another thread in the same slot.
    let journals = journals(threads);
    assert_eq!(find(&journals, (1, 9, X), 2), []);
    let mut other_life = journals.clone();
    other_life[0].1[1].1.write = 0;
    assert_eq!(find(&other_life, (1, 0, X), 2).len(), 3);
    other_life[1].1[0].1.life = 1;
    assert_eq!(find(&other_life, (1, 0, X), 2), []);
    let mut reused = journals.clone();
    reused[0].1[1].1.write = 0;
    reused[0].1[1].0 = 7;
    assert_eq!(find(&reused, (1, 0, X), 2), []);
}

#[test]
fn numbers_go_round() {
    let threads: &[&[_]] = &[
        &[(EventKind::Store, X, 1, Relaxed), (EventKind::Load, Y, u32::MAX, Relaxed)],
        &[(EventKind::Store, Y, u32::MAX - 1, Relaxed), (EventKind::Store, Y, 1, Relaxed)],
    ];
    assert_eq!(steps(&found(threads, (1, 0), 2)), [(100, Start), (101, Program), (201, FromRead)]);
}
