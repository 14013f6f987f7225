//! Findings to test renderers with: litmus tests, written as a source and the run of its statements.

use crate::{Answer, Checked, Details, Edge, Effect, Event, Problem, Relation, Verdict, Witness};
use Relation::{Fr, Mo, Po, Rf};
use seqcst_model::{Mode, Model};
use std::ops::Range;

/// Builds an answer from a source and the events of a run; spans are found by searching for the statements in the source.
pub(crate) struct Builder {
    witness: Witness,
}

/// An edge, in short.
pub(crate) fn edge(from: usize, relation: Relation, to: usize) -> Edge {
    Edge { from, to, relation }
}

impl Builder {
    pub fn new(file: &str, model: &str, threads: &[&str], source: &str) -> Builder {
        let witness = Witness {
            file: file.to_owned(),
            source: source.to_owned(),
            model: Model::named(model).expect("a model"),
            threads: threads.iter().map(|s| s.to_string()).collect(),
            is_partial: false,
            events: Vec::new(),
            edges: Vec::new(),
            problem: Problem::Race { first: 0, second: 0 },
        };
        Builder { witness }
    }

    /// An initial write.
    pub fn init(mut self, location: &str, value: i64) -> Builder {
        self.witness.events.push(Event {
            thread: None,
            step: 0,
            effect: Some(Effect::Wrote(value)),
            mode: None,
            location: Some(location.to_owned()),
            text: String::new(),
            span: 0..0,
            line: 0,
            column: 0,
            hidden: false,
        });
        self
    }

    /// A step: the statement is looked up in the source after the thread's `fn`. Adds the `po` edge.
    pub fn step(mut self, thread: usize, text: &str, label: &str) -> Builder {
        let (span, line, column) = self.find(thread, text);
        let (effect, mode, location) = parse(label);
        let Witness { events, edges, .. } = &mut self.witness;
        if let Some(before) = events.iter().rposition(|e| e.thread == Some(thread)) {
            edges.push(edge(before, Po, events.len()));
        }
        let step = events.iter().filter(|e| e.thread.is_some()).count() + 1;
        let text = text.to_owned();
        let thread = Some(thread);
        events.push(Event { thread, step, effect, mode, location, text, span, line, column, hidden: false });
        self
    }

    /// A step that the lowering added.
    pub fn hidden(self, thread: usize, text: &str, label: &str) -> Builder {
        let mut builder = self.step(thread, text, label);
        if let Some(event) = builder.witness.events.last_mut() {
            event.hidden = true;
        }
        builder
    }

    pub fn edge(mut self, from: usize, relation: Relation, to: usize) -> Builder {
        self.witness.edges.push(edge(from, relation, to));
        self
    }

    pub fn find(&self, thread: usize, text: &str) -> (Range<usize>, usize, usize) {
        let source = &self.witness.source;
        let name = self.witness.threads.get(thread).map_or("", String::as_str);
        let after = source.find(&format!("fn {name}")).unwrap_or(0);
        let Some(at) = source[after..].find(text).map(|i| i + after) else { return (0..0, 1, 1) };
        let line_start = source[..at].rfind('\n').map_or(0, |i| i + 1);
        (at..at + text.len(), source[..at].matches('\n').count() + 1, at - line_start + 1)
    }

    /// The answer without a witness.
    pub fn answer(&self, verdict: Verdict) -> Answer {
        let Witness { file, model, threads, .. } = &self.witness;
        let checked = Checked { states: 1234, transitions: 4321, threads: threads.len() };
        let answer = Answer::new(file.clone(), Some(*model), verdict, Details::Check(checked));
        Answer { seconds: 0.0212345, ..answer }
    }

    pub fn done(mut self, verdict: Verdict, problem: Problem) -> Answer {
        self.witness.problem = problem;
        self.witness.is_partial = verdict == Verdict::MayBeNonRobust;
        Answer { witness: Some(self.witness.clone()), ..self.answer(verdict) }
    }

    pub fn stale(self, latest: usize, older: usize, reads: bool, path: Vec<Edge>) -> Answer {
        let access = self.witness.events.len() - 1;
        let mut cycle = path.clone();
        cycle.push(edge(access, if reads { Fr } else { Mo }, latest));
        let axiom = "po ∪ rf ∪ mo ∪ fr has a cycle".to_owned();
        self.done(
            Verdict::NotRobust,
            Problem::Stale { access, latest, older, reads, waits: false, path, cycle, axiom },
        )
    }
}

/// `U.acq_rel x 0→1` and the like.
fn parse(label: &str) -> (Option<Effect>, Option<Mode>, Option<String>) {
    let mut words = label.split(' ');
    let (kind, mode) =
        words.next().map(|word| word.split_once('.').unwrap_or((word, ""))).unwrap_or_default();
    let modes = [Mode::NonAtomic, Mode::Relaxed, Mode::Acquire, Mode::Release, Mode::AcqRel, Mode::SeqCst];
    let mode = modes.into_iter().find(|known| known.to_string() == mode);
    let location = words.next().map(str::to_owned);
    let values = words.next().unwrap_or_default();
    let value = |text: &str| text.parse().expect("a value");
    let effect = match kind {
        "R" => Some(Effect::Read(value(values))),
        "W" => Some(Effect::Wrote(value(values))),
        "U" => values.split_once('→').map(|(old, new)| Effect::Updated(value(old), value(new))),
        "F" => Some(Effect::Fenced),
        _ => None,
    };
    (effect, mode, location)
}

const SB: &str = "\
global x y;

fn t1 {
    local a;
    x.store(1, rlx);
    a = y.load(rlx);
}

fn t2 {
    local b;
    y.store(1, rlx);
    b = x.load(rlx);
}
";

/// Store buffering.
pub(crate) fn sb() -> Answer {
    Builder::new("sb.tpl", "rc20", &["t1", "t2"], SB)
        .init("x", 0)
        .init("y", 0)
        .step(0, "x.store(1, rlx)", "W.rlx x 1")
        .step(0, "a = y.load(rlx)", "R.rlx y 0")
        .step(1, "y.store(1, rlx)", "W.rlx y 1")
        .step(1, "b = x.load(rlx)", "R.rlx x 0")
        .edge(0, Mo, 2)
        .edge(1, Mo, 4)
        .edge(1, Rf, 3)
        .edge(3, Fr, 4)
        .edge(0, Rf, 5)
        .edge(5, Fr, 2)
        .stale(2, 0, true, vec![edge(2, Po, 3), edge(3, Fr, 4), edge(4, Po, 5)])
}

/// A wait that SC does not let pass, on a machine where an SC store is a store and a fence.
pub(crate) fn waiting() -> Answer {
    let source = "\
global x y;
fn t1 { local a; x.store(1, sc); a = y.load(); }
fn t2 { y.store(1); wait(x, 0); }
";
    let mut answer = Builder::new("waiting.tpl", "tso", &["t1", "t2"], source)
        .init("x", 0)
        .init("y", 0)
        .step(0, "x.store(1, sc)", "W x 1")
        .hidden(0, "x.store(1, sc)", "F.sc")
        .step(0, "a = y.load()", "R y 0")
        .step(1, "y.store(1)", "W y 1")
        .step(1, "wait(x, 0)", "R x 0")
        .edge(0, Mo, 2)
        .edge(1, Mo, 5)
        .edge(1, Rf, 4)
        .edge(4, Fr, 5)
        .edge(0, Rf, 6)
        .edge(6, Fr, 2)
        .stale(2, 0, true, vec![edge(2, Po, 4), edge(4, Fr, 5), edge(5, Po, 6)]);
    if let Some(Witness { problem: Problem::Stale { waits, .. }, .. }) = &mut answer.witness {
        *waits = true;
    }
    answer
}

/// Independent reads of independent writes.
pub(crate) fn iriw() -> Answer {
    let source = "\
global x y;
fn w1 { x.store(1, rel); }
fn w2 { y.store(1, rel); }
fn r1 { local a b; a = x.load(acq); b = y.load(acq); }
fn r2 { local c d; c = y.load(acq); d = x.load(acq); }
";
    Builder::new("iriw.tpl", "ra", &["w1", "w2", "r1", "r2"], source)
        .init("x", 0)
        .init("y", 0)
        .step(0, "x.store(1, rel)", "W.rel x 1")
        .step(2, "a = x.load(acq)", "R.acq x 1")
        .step(2, "b = y.load(acq)", "R.acq y 0")
        .step(1, "y.store(1, rel)", "W.rel y 1")
        .step(3, "c = y.load(acq)", "R.acq y 1")
        .step(3, "d = x.load(acq)", "R.acq x 0")
        .edge(0, Mo, 2)
        .edge(1, Mo, 5)
        .edge(2, Rf, 3)
        .edge(1, Rf, 4)
        .edge(4, Fr, 5)
        .edge(5, Rf, 6)
        .edge(0, Rf, 7)
        .edge(7, Fr, 2)
        .stale(
            2,
            0,
            true,
            vec![edge(2, Rf, 3), edge(3, Po, 4), edge(4, Fr, 5), edge(5, Rf, 6), edge(6, Po, 7)],
        )
}

/// Two threads write two locations in opposite orders: the last write lands too early.
pub(crate) fn two_plus_two_w() -> Answer {
    let source = "\
global x y;
fn t1 { x.store(1, rlx); y.store(2, rlx); }
fn t2 { y.store(1, rlx); x.store(2, rlx); }
";
    Builder::new("2+2w.tpl", "rc20", &["t1", "t2"], source)
        .init("x", 0)
        .init("y", 0)
        .step(0, "x.store(1, rlx)", "W.rlx x 1")
        .step(0, "y.store(2, rlx)", "W.rlx y 2")
        .step(1, "y.store(1, rlx)", "W.rlx y 1")
        .step(1, "x.store(2, rlx)", "W.rlx x 2")
        .edge(1, Mo, 3)
        .edge(3, Mo, 4)
        .edge(0, Mo, 5)
        .edge(5, Mo, 2)
        .stale(2, 0, false, vec![edge(2, Po, 3), edge(3, Mo, 4), edge(4, Po, 5)])
}

/// Message passing with a non-atomic payload and a relaxed flag.
pub(crate) fn race() -> Answer {
    let source = "\
global flag;
na data;
fn producer { data = 42; flag.store(1, rlx); }
fn consumer { local r; wait(flag = 1, rlx); r = data; }
";
    Builder::new("mp.tpl", "rc20", &["producer", "consumer"], source)
        .init("flag", 0)
        .init("data", 0)
        .step(0, "data = 42", "W.na data 42")
        .step(0, "flag.store(1, rlx)", "W.rlx flag 1")
        .step(1, "wait(flag = 1, rlx)", "R.rlx flag 1")
        .step(1, "r = data", "R.na data 42")
        .edge(0, Mo, 3)
        .edge(1, Mo, 2)
        .edge(3, Rf, 4)
        .edge(2, Rf, 5)
        .done(Verdict::Race, Problem::Race { first: 2, second: 5 })
}

/// A lost update, asserted away.
pub(crate) fn unproved() -> Answer {
    let source = "fn set {\n    value.store(1, rlx);\n    done.store(1, rlx);\n}\nfn get {\n    done.load(rlx);\n    value.load(rlx);\n}\n";
    Builder::new("library.c", "rc20", &["set(1)", "get()"], source)
        .step(0, "value.store(1, rlx)", "")
        .step(0, "done.store(1, rlx)", "")
        .step(1, "done.load(rlx)", "")
        .step(1, "value.load(rlx)", "")
        .edge(1, Rf, 2)
        .done(
            Verdict::MayBeNonRobust,
            Problem::Unproved {
                newest: 0,
                access: 3,
                why: "`get` may access value without knowing the write of `set`".to_owned(),
            },
        )
}

pub(crate) fn assertion() -> Answer {
    let source = "\
global x;
fn t1 { local a; a = x.load(rlx); x.store(a + 1, rlx); }
fn t2 { local b; b = x.load(rlx); x.store(b + 1, rlx); b = x.load(rlx); assert(b == 2); }
";
    let builder = Builder::new("lost.tpl", "rc20", &["t1", "t2"], source)
        .init("x", 0)
        .step(0, "a = x.load(rlx)", "R.rlx x 0")
        .step(1, "b = x.load(rlx)", "R.rlx x 0")
        .step(0, "x.store(a + 1, rlx)", "W.rlx x 1")
        .step(1, "x.store(b + 1, rlx)", "W.rlx x 1")
        .step(1, "b = x.load(rlx)", "R.rlx x 1")
        .edge(0, Rf, 1)
        .edge(0, Rf, 2)
        .edge(0, Mo, 3)
        .edge(3, Mo, 4)
        .edge(4, Rf, 5)
        .edge(1, Fr, 3)
        .edge(2, Fr, 3);
    let text = "assert(b == 2)";
    let (span, line, column) = builder.find(1, text);
    builder
        .done(Verdict::Assertion, Problem::Assertion { thread: 1, text: text.to_owned(), span, line, column })
}

/// Two locks taken in opposite orders.
pub(crate) fn deadlock() -> Answer {
    let source = "\
global m n;
fn left { lock(m); lock(n); unlock(n); unlock(m); }
fn right { lock(n); lock(m); unlock(m); unlock(n); }
";
    let builder = Builder::new("locks.tpl", "rc20", &["left", "right"], source)
        .init("m", 0)
        .init("n", 0)
        .step(0, "lock(m)", "U.acq m 0→1")
        .step(1, "lock(n)", "U.acq n 0→1")
        .edge(0, Rf, 2)
        .edge(0, Mo, 2)
        .edge(1, Rf, 3)
        .edge(1, Mo, 3);
    let (span, line, column) = builder.find(0, "lock(n)");
    let text = "lock(n)".to_owned();
    builder.done(Verdict::Deadlock, Problem::Deadlock { thread: 0, text, span, line, column })
}

/// A search that ran into its limit.
pub(crate) fn gave_up() -> Answer {
    let answer = Builder::new("big.tpl", "tso", &["t1", "t2", "t3"], "").answer(Verdict::GaveUp);
    let details = Details::Check(Checked { states: 10_000_000, transitions: 4321, threads: 3 });
    let limit = Some("limit of 10,000,000 states reached at depth 57".to_owned());
    Answer { details, limit, seconds: 61.5, ..answer }
}

/// A search that found nothing.
pub(crate) fn robust() -> Answer {
    Builder::new("dekker.tpl", "ra", &["t1", "t2"], "").answer(Verdict::Robust)
}

/// Store buffering with an SC fence in one thread: three hidden events, one row.
pub(crate) fn fenced() -> Answer {
    let source = SB.replace("    a = y", "    fence(sc);\n    a = y");
    Builder::new("sb+fence.tpl", "rc20", &["t1", "t2"], &source)
        .init("x", 0)
        .init("y", 0)
        .step(0, "x.store(1, rlx)", "W.rlx x 1")
        .hidden(0, "fence(sc)", "F.acq")
        .hidden(0, "fence(sc)", "U.acq_rel - 0→0")
        .hidden(0, "fence(sc)", "F.rel")
        .step(0, "a = y.load(rlx)", "R.rlx y 0")
        .step(1, "y.store(1, rlx)", "W.rlx y 1")
        .step(1, "b = x.load(rlx)", "R.rlx x 0")
        .edge(1, Rf, 6)
        .edge(6, Fr, 7)
        .edge(0, Rf, 8)
        .edge(8, Fr, 2)
        .stale(
            2,
            0,
            true,
            vec![
                edge(2, Po, 3),
                edge(3, Po, 4),
                edge(4, Po, 5),
                edge(5, Po, 6),
                edge(6, Fr, 7),
                edge(7, Po, 8),
            ],
        )
}

/// Twelve steps of three threads, with all relations.
pub(crate) fn twelve() -> Answer {
    let source = "\
global x y z;
fn writer { x.store(1, rlx); y.store(1, rel); x.store(2, rlx); z.store(1, rel); }
fn middle { local a b; a = y.load(acq); b = x.load(rlx); y.store(a + 1, rel); z.store(2, rel); }
fn reader { local c d e f; c = z.load(acq); d = y.load(rlx); e = z.load(rlx); f = x.load(acq); }
";
    Builder::new("twelve.tpl", "rc20", &["writer", "middle", "reader"], source)
        .init("x", 0)
        .init("y", 0)
        .init("z", 0)
        .step(0, "x.store(1, rlx)", "W.rlx x 1") // 3
        .step(0, "y.store(1, rel)", "W.rel y 1") // 4
        .step(1, "a = y.load(acq)", "R.acq y 1") // 5
        .step(1, "b = x.load(rlx)", "R.rlx x 1") // 6
        .step(0, "x.store(2, rlx)", "W.rlx x 2") // 7
        .step(2, "c = z.load(acq)", "R.acq z 0") // 8
        .step(0, "z.store(1, rel)", "W.rel z 1") // 9
        .step(1, "y.store(a + 1, rel)", "W.rel y 2") // 10
        .step(2, "d = y.load(rlx)", "R.rlx y 2") // 11
        .step(1, "z.store(2, rel)", "W.rel z 2") // 12
        .step(2, "e = z.load(rlx)", "R.rlx z 2") // 13
        .step(2, "f = x.load(acq)", "R.acq x 0") // 14
        .edge(0, Mo, 3)
        .edge(3, Mo, 7)
        .edge(1, Mo, 4)
        .edge(4, Mo, 10)
        .edge(2, Mo, 9)
        .edge(9, Mo, 12)
        .edge(4, Rf, 5)
        .edge(3, Rf, 6)
        .edge(6, Fr, 7)
        .edge(2, Rf, 8)
        .edge(8, Fr, 9)
        .edge(10, Rf, 11)
        .edge(12, Rf, 13)
        .edge(0, Rf, 14)
        .edge(14, Fr, 3)
        .stale(7, 0, true, vec![edge(7, Po, 9), edge(9, Mo, 12), edge(12, Rf, 13), edge(13, Po, 14)])
}

/// Statements that don't fit into a box or a column.
pub(crate) fn long() -> Answer {
    let store = "shared_configuration_pointer.store(previous_configuration + 1, memory_order_release)";
    let load = "observed = shared_configuration_pointer.compare_exchange_strong(expected_value, desired_value & 0xff)";
    let source =
        format!("fn updater {{\n  {store};\n}}\nfn observer {{\n  ready < 2 && \"x\";\n  {load};\n}}\n");
    Builder::new("some/long/path/<config> & \"co\".tpl", "rc20", &["updater", "observer"], &source)
        .init("shared_configuration_pointer", 0)
        .init("ready", 0)
        .step(0, store, "W.rel shared_configuration_pointer 1")
        .step(1, "ready < 2 && \"x\"", "R.rlx ready 0")
        .step(1, load, "U.acq_rel shared_configuration_pointer 0→255")
        .edge(0, Rf, 4)
        .edge(4, Fr, 2)
        .edge(1, Rf, 3)
        .stale(2, 0, true, vec![edge(2, Mo, 4)])
}

/// More threads than fit anywhere.
pub(crate) fn crowd() -> Answer {
    let names: Vec<String> = (0..24).map(|i| format!("worker[{i}]")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut builder = Builder::new("crowd.tpl", "ra", &names, "").init("x", 0);
    for i in 0..24 {
        builder = builder.step(i, "x.store(1)", "W.rel x 1").edge(i, Mo, i + 1);
    }
    builder.stale(23, 0, false, vec![edge(23, Mo, 24)])
}

/// Steps and edges by chance, the edges down in time except for the last.
pub(crate) fn random(seed: u64, steps: usize) -> Answer {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut draw = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % below.max(1) as u64).unwrap_or(0)
    };
    let threads = 1 + draw(5);
    let mut builder =
        Builder::new("random.tpl", "ra", &["a", "b", "c", "d", "e"], "").init("x", 0).init("y", 1);
    for i in 0..steps {
        builder = builder.step(draw(threads), "x.store(1)", "W.rel x 1");
        for _ in 0..draw(3) {
            builder = builder.edge(draw(i + 2), [Rf, Mo, Fr][draw(3)], i + 2);
        }
    }
    builder.stale(2 + draw(steps - 1), 0, false, vec![])
}

/// Input that no engine should produce.
pub(crate) fn odd() -> Vec<Answer> {
    let mut all = Vec::new();
    let stale = |access, latest, older| Problem::Stale {
        access,
        latest,
        older,
        reads: true,
        waits: false,
        path: vec![edge(7, Po, 99)],
        cycle: vec![edge(99, Fr, 7), edge(0, Po, 0)],
        axiom: String::new(),
    };
    all.push(Builder::new("", "sc", &[], "").done(Verdict::NotRobust, stale(3, 1, usize::MAX)));
    all.push(Builder::new("", "sc", &[], "").done(Verdict::Race, Problem::Race { first: 0, second: 0 }));
    let nowhere = Problem::Assertion {
        thread: usize::MAX,
        text: String::new(),
        span: Range { start: 5, end: 1 },
        line: 0,
        column: 0,
    };
    all.push(Builder::new("a\n\u{1b}[1m", "tso", &[], "ü").done(Verdict::Assertion, nowhere));
    let mut answer =
        Builder::new("f", "ra", &["t"], "ü").init("x", 0).step(7, "s\n\u{7}", "").stale(0, 1, false, vec![]);
    if let Some(witness) = &mut answer.witness {
        witness.events[1].span = 1..usize::MAX;
        witness.edges.push(edge(1, Rf, 0));
        witness.edges.push(edge(1, Fr, 1));
    }
    all.push(answer.clone());
    answer.verdict = Verdict::Robust;
    answer.seconds = f64::INFINITY;
    all.push(answer.clone());
    answer.verdict = Verdict::Deadlock;
    answer.witness = None;
    all.push(answer);
    all
}

/// All samples, by name.
pub(crate) fn all() -> Vec<(&'static str, Answer)> {
    vec![
        ("sb", sb()),
        ("iriw", iriw()),
        ("2+2w", two_plus_two_w()),
        ("race", race()),
        ("unproved", unproved()),
        ("assertion", assertion()),
        ("deadlock", deadlock()),
        ("gave-up", gave_up()),
        ("robust", robust()),
        ("fenced", fenced()),
        ("twelve", twelve()),
        ("long", long()),
        ("crowd", crowd()),
        ("waiting", waiting()),
    ]
}
