//! Whole reports, as people see them.

use super::super::found::{Access, Fate, Step, Swap};
use super::super::misuse::{Misuse, Object};
use super::super::{repair, words};
use super::*;
use crate::context::Site;
use crate::journal::Link;
use expect_test::{Expect, expect};
use seqcst_model::Mode;

const X: usize = 0x5580_0000_4010;
const Y: usize = 0x5580_0000_4014;

fn frame(function: &str, line: u32) -> Frame {
    Frame {
        function: function.into(),
        file: "/home/me/dekker/dekker.c".into(),
        line,
        column: 12,
        module: "/home/me/dekker/dekker".into(),
        offset: 0x1200 + u64::from(line),
        inlined: false,
        near: false,
    }
}

fn access(thread: u32, what: EventKind, mode: Option<Mode>, addr: usize) -> Access {
    Access { thread, what, mode, addr, size: 4, site: Site::UNKNOWN }
}

fn variable(addr: usize) -> Option<String> {
    match addr {
        X => Some("x".into()),
        Y => Some("y".into()),
        _ => None,
    }
}

fn shown(access: Access, line: u32) -> Shown {
    Shown {
        variable: variable(access.addr),
        access,
        stack: vec![frame("try_enter", line), frame("worker", 52)],
    }
}

fn step(edge: Edge, thread: u32, what: EventKind, mode: Mode, addr: usize, line: u32) -> Step {
    let (released, acquired) = (mode.is_release(), mode.is_acquire());
    let site = Site::UNKNOWN;
    let link = Link {
        edge,
        thread,
        what,
        mode,
        addr,
        size: 4,
        site,
        released,
        acquired,
        fenced: false,
        flushed: false,
    };
    Step { link, frame: Some(frame("try_enter", line)), variable: variable(addr) }
}

fn report(kind: Kind, access: Shown, other: Shown, chain: Vec<Step>) -> Report {
    let (fate, older, other) = (Fate::Error, None, Some(other));
    let mut report = Report {
        kind,
        fate,
        count: 1,
        access,
        other,
        older,
        swap: None,
        freed: false,
        chain,
        repair: String::new(),
    };
    let links: Vec<_> = report.chain.iter().map(|step| step.link).collect();
    report.repair =
        words::repair(&report, &repair::repair(&links, report.access.access.mode, seqcst_model::Model::Rc11));
    report
}

fn check(report: &Report, expected: Expect) {
    let style = Style { pid: 123, directory: "/home/me/dekker".into(), verbose: false, model: "RC20" };
    let text = render(report, &style);
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    expected.assert_eq(&text);
}

#[test]
fn store_buffering() {
    let chain = vec![
        step(Edge::Start, 1, EventKind::Store, Mode::Release, X, 29),
        step(Edge::Program, 1, EventKind::Load, Mode::Acquire, Y, 31),
        step(Edge::FromRead, 2, EventKind::Store, Mode::Release, Y, 29),
    ];
    let load = shown(access(2, EventKind::Load, Some(Mode::Relaxed), X), 31);
    let store = shown(access(1, EventKind::Store, Some(Mode::Release), X), 29);
    let mut report = report(Kind::Stale, load, store, chain);
    report.older = Some(shown(access(0, EventKind::Store, None, X), 11));
    check(
        &report,
        expect![[r#"
            ==================
            WARNING: seqcst: this load can be stale under RC20 (pid=123)
              Load of 4 bytes (relaxed) at 0x558000004010 in x by thread 2 may return an old value:
                #0 try_enter dekker.c:31:12 (dekker+0x121f)
                #1 worker dekker.c:52:12 (dekker+0x1234)
              It can miss the store of 4 bytes (release) by thread 1:
                #0 try_enter dekker.c:29:12 (dekker+0x121d)
                #1 worker dekker.c:52:12 (dekker+0x1234)
              and see what the main thread wrote before that at dekker.c:11.
              Under SC the order is forced:
                thread 1  store release  x  dekker.c:29:12  the write that can be missed
                thread 1  load acquire   y  dekker.c:31:12  program order
                thread 2  store release  y  dekker.c:29:12  overwrites what was read (fr)
                thread 2  load relaxed   x  dekker.c:31:12  program order, but not bound to see it
              Repair to try: put atomic_thread_fence(memory_order_seq_cst) between dekker.c:29:12 and
                dekker.c:31:12; or make all of these accesses seq_cst.
            SUMMARY: seqcst: stale load dekker.c:31 in try_enter
            ==================
        "#]],
    );
}

/// What it was, and what it could have been.
#[test]
fn a_swap_in_words() {
    let swap = |found, old: &[u64]| {
        words::swap(&Swap { expected: 1, found, old: old.to_vec(), failure: Mode::Acquire })
    };
    expect!["It expects 1, found 3 and failed; it may find 0 or 2 and fail as well (a load, acquire)."]
        .assert_eq(&swap(3, &[0, 2]));
    expect!["It expects 1, found 3 and failed; it may find an older 1 and succeed."]
        .assert_eq(&swap(3, &[1]));
    expect!["It expects 1, found 1 and succeeded; it may find 0 and fail (a load, acquire), or find an older 1 and succeed as well."]
        .assert_eq(&swap(1, &[0, 1]));
}

#[test]
fn message_passing_on_the_heap() {
    let chain = vec![
        step(Edge::Start, 0, EventKind::Store, Mode::Relaxed, 0x7b04_0000_0010, 10),
        step(Edge::Program, 0, EventKind::Store, Mode::Relaxed, 0x7b04_0000_0018, 11),
        step(Edge::ReadsFrom, 3, EventKind::Load, Mode::Relaxed, 0x7b04_0000_0018, 20),
    ];
    let now = shown(access(3, EventKind::Rmw, Some(Mode::AcqRel), 0x7b04_0000_0010), 21);
    let missed = shown(access(0, EventKind::Store, Some(Mode::Relaxed), 0x7b04_0000_0010), 10);
    check(
        &report(Kind::Stale, now, missed, chain),
        expect![[r#"
            ==================
            WARNING: seqcst: this read-modify-write can be stale under RC20 (pid=123)
              Read-modify-write of 4 bytes (acq_rel) at 0x7b0400000010 by thread 3 may act on an old value:
                #0 try_enter dekker.c:21:12 (dekker+0x1215)
                #1 worker dekker.c:52:12 (dekker+0x1234)
              It can miss the store of 4 bytes (relaxed) by the main thread:
                #0 try_enter dekker.c:10:12 (dekker+0x120a)
                #1 worker dekker.c:52:12 (dekker+0x1234)
              Under SC the order is forced:
                main      store relaxed  0x7b0400000010  dekker.c:10:12  the write that can be missed
                main      store relaxed  0x7b0400000018  dekker.c:11:12  program order
                thread 3  load relaxed   0x7b0400000018  dekker.c:20:12  reads it (rf)
                thread 3  rmw acq_rel    0x7b0400000010  dekker.c:21:12  program order, but not bound to see it
              Repair to try: make the store at dekker.c:11:12 release (now relaxed) and the load at
                dekker.c:20:12 acquire (now relaxed).
            SUMMARY: seqcst: stale read-modify-write dekker.c:21 in try_enter
            ==================
        "#]],
    );
}

#[test]
fn waits_and_unknown_places() {
    let now = Shown { stack: Vec::new(), ..shown(access(1, EventKind::Load, Some(Mode::Acquire), X), 1) };
    let missed = shown(access(0, EventKind::Store, None, X), 10);
    check(
        &report(Kind::Wait, now, missed, Vec::new()),
        expect![[r#"
            ==================
            WARNING: seqcst: this load can be stale under RC20, which only makes a loop wait longer (pid=123)
              Load of 4 bytes (acquire) at 0x558000004010 in x by thread 1 may return an old value:
                (where is not known)
              It can miss the store of 4 bytes by the main thread:
                #0 try_enter dekker.c:10:12 (dekker+0x120a)
                #1 worker dekker.c:52:12 (dekker+0x1234)
              What forces the order under SC is no longer remembered (a larger history= may show it).
            SUMMARY: seqcst: stale load an unknown place
            ==================
        "#]],
    );
}

#[test]
fn stores() {
    let now = shown(access(1, EventKind::Store, Some(Mode::Relaxed), X), 40);
    let missed = shown(access(2, EventKind::Store, Some(Mode::Release), X), 10);
    let chain = vec![
        step(Edge::Start, 2, EventKind::Store, Mode::Release, X, 10),
        step(Edge::Program, 2, EventKind::Store, Mode::Release, Y, 11),
        step(Edge::Overwrites, 1, EventKind::Store, Mode::Relaxed, Y, 39),
    ];
    check(
        &report(Kind::Stale, now, missed, chain),
        expect![[r#"
        ==================
        WARNING: seqcst: this store can take effect too early under RC20 (pid=123)
          Store of 4 bytes (relaxed) at 0x558000004010 in x by thread 1 may precede an older write:
            #0 try_enter dekker.c:40:12 (dekker+0x1228)
            #1 worker dekker.c:52:12 (dekker+0x1234)
          It can come before the store of 4 bytes (release) by thread 2:
            #0 try_enter dekker.c:10:12 (dekker+0x120a)
            #1 worker dekker.c:52:12 (dekker+0x1234)
          Under SC the order is forced:
            thread 2  store release  x  dekker.c:10:12  the older write
            thread 2  store release  y  dekker.c:11:12  program order
            thread 1  store relaxed  y  dekker.c:39:12  comes later at this location (mo)
            thread 1  store relaxed  x  dekker.c:40:12  program order, but can come first
          Repair to try: put atomic_thread_fence(memory_order_seq_cst) between dekker.c:10:12 and
            dekker.c:11:12, and between dekker.c:39:12 and dekker.c:40:12; or make all of these accesses
            seq_cst.
        SUMMARY: seqcst: stale store dekker.c:40 in try_enter
        ==================
    "#]],
    );
}

#[test]
fn races() {
    let now = shown(access(1, EventKind::Store, None, X), 40);
    let before = shown(access(0, EventKind::Load, Some(Mode::Acquire), X), 10);
    let mut race = report(Kind::Race, now, before, Vec::new());
    check(
        &race,
        expect![[r#"
        ==================
        WARNING: seqcst: data race (pid=123)
          Plain write of 4 bytes at 0x558000004010 in x by thread 1:
            #0 try_enter dekker.c:40:12 (dekker+0x1228)
            #1 worker dekker.c:52:12 (dekker+0x1234)
          Earlier atomic load of 4 bytes (acquire) at 0x558000004010 in x by the main thread:
            #0 try_enter dekker.c:10:12 (dekker+0x120a)
            #1 worker dekker.c:52:12 (dekker+0x1234)
          No happens-before under RC20 orders the two.
        SUMMARY: seqcst: data race dekker.c:40 in try_enter
        ==================
    "#]],
    );
    race.freed = true;
    check(
        &race,
        expect![[r#"
        ==================
        WARNING: seqcst: data race with a free (pid=123)
          Free of memory at 0x558000004010 in x by thread 1:
            #0 try_enter dekker.c:40:12 (dekker+0x1228)
            #1 worker dekker.c:52:12 (dekker+0x1234)
          Earlier atomic load of 4 bytes (acquire) at 0x558000004010 in x by the main thread:
            #0 try_enter dekker.c:10:12 (dekker+0x120a)
            #1 worker dekker.c:52:12 (dekker+0x1234)
          No happens-before under RC20 orders the two.
        SUMMARY: seqcst: data race with a free dekker.c:40 in try_enter
        ==================
    "#]],
    );
}

#[test]
fn long_names() {
    assert_eq!(shortened("abcdefghijklmnopqrstuvwxyz", 12), "abcd...wxyz");
    assert_eq!(shortened("abc", 12), "abc");
}

#[test]
fn misuses() {
    let heap = 0x7b04_0000_0010;
    let now = shown(access(1, EventKind::Load, None, heap), 40);
    let before = shown(access(0, EventKind::Free, None, heap), 10);
    let mut used = report(Kind::Misuse(Misuse::UseAfterFree), now, before.clone(), Vec::new());
    used.older = Some(shown(access(2, EventKind::Allocate, None, heap), 5));
    check(
        &used,
        expect![[r#"
        ==================
        WARNING: seqcst: use after free (pid=123)
          Plain read of 4 bytes at 0x7b0400000010 by thread 1:
            #0 try_enter dekker.c:40:12 (dekker+0x1228)
            #1 worker dekker.c:52:12 (dekker+0x1234)
          The memory was freed by the main thread:
            #0 try_enter dekker.c:10:12 (dekker+0x120a)
            #1 worker dekker.c:52:12 (dekker+0x1234)
          The block was allocated by thread 2:
            #0 try_enter dekker.c:5:12 (dekker+0x1205)
            #1 worker dekker.c:52:12 (dekker+0x1234)
        SUMMARY: seqcst: use after free dekker.c:40 in try_enter
        ==================
    "#]],
    );
    let now = shown(access(1, EventKind::Acquire, None, X), 40);
    let gone = Kind::Misuse(Misuse::UseAfterDestroy(Object::Mutex));
    check(
        &report(gone, now, before, Vec::new()),
        expect![[r#"
        ==================
        WARNING: seqcst: use of a destroyed mutex (pid=123)
          Use of the mutex at 0x558000004010 in x by thread 1:
            #0 try_enter dekker.c:40:12 (dekker+0x1228)
            #1 worker dekker.c:52:12 (dekker+0x1234)
          It was destroyed by the main thread:
            #0 try_enter dekker.c:10:12 (dekker+0x120a)
            #1 worker dekker.c:52:12 (dekker+0x1234)
        SUMMARY: seqcst: use of a destroyed mutex dekker.c:40 in try_enter
        ==================
    "#]],
    );
    let asks = shown(access(1, EventKind::Allocate, None, 24), 40);
    let asks =
        Report { other: None, ..report(Kind::Misuse(Misuse::BadAlignment), asks.clone(), asks, Vec::new()) };
    check(
        &asks,
        expect![[r#"
        ==================
        WARNING: seqcst: allocation with an invalid alignment (pid=123)
          Allocation with an alignment of 24 by thread 1:
            #0 try_enter dekker.c:40:12 (dekker+0x1228)
            #1 worker dekker.c:52:12 (dekker+0x1234)
        SUMMARY: seqcst: allocation with an invalid alignment dekker.c:40 in try_enter
        ==================
    "#]],
    );
}
