//! ρ on random loops: what a library can end in under RC20, it can end in after ρ; and under SC, the other way round.

use super::ir::*;
use seqcst_library::client::{Call, Client, program};
use seqcst_library::code::Mode::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use seqcst_library::code::{ClassId, Expr, Library, LocalId, Operator, Statement, Update};
use seqcst_library::rho::apply;
use seqcst_model::{Graph, Model, Next, Program, Value};
use seqcst_program::lower;
use seqcst_program::semantics::{Local, Machine};
use std::collections::{BTreeMap, BTreeSet};

/// A small generator of numbers (SplitMix64).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % sides
    }

    fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.roll(from.len() as u64) as usize].clone()
    }

    fn class(&mut self) -> ClassId {
        self.pick(&[X, Y])
    }

    fn local(&mut self) -> LocalId {
        self.pick(&[B, C, D])
    }

    fn expr(&mut self) -> Expr {
        match self.roll(4) {
            0 => int(0),
            1 => int(1),
            _ => v(self.local()),
        }
    }

    fn condition(&mut self) -> Expr {
        match self.roll(5) {
            0 => v(E),
            1 => not(v(E)),
            2 => eq(v(self.local()), int(0)),
            3 => ne(v(self.local()), v(self.local())),
            _ => v(self.local()),
        }
    }

    fn step(&mut self) -> Statement {
        match self.roll(14) {
            0..=4 => load(self.local(), at(self.class()), self.pick(&[Relaxed, Acquire, SeqCst])),
            5..=7 => {
                let found = self.pick(&[None, Some(B), Some(C)]);
                let (place, success) = (at(self.class()), self.pick(&[Relaxed, Release, AcqRel]));
                let (expected, failure) = (self.expr(), self.pick(&[Relaxed, Acquire]));
                cas_or(E, found, place, expected, int(1), success, failure)
            }
            8 => rmw(
                self.local(),
                at(self.class()),
                self.pick(&[Update::Exchange, Update::Or]),
                int(1),
                AcqRel,
            ),
            9 => store(at(self.class()), int(1), self.pick(&[Relaxed, Release])),
            10 => set(self.local(), self.expr()),
            11 => when(self.condition(), vec![self.pick(&[leave(), again()])]),
            12 => store(field(VAL, F), self.expr(), Relaxed),
            _ => fence(self.pick(&[Acquire, Release, SeqCst])),
        }
    }

    /// A method with a loop that leaves what it found in a cell, another one that writes.
    fn library(&mut self) -> Library {
        let mut body = vec![alloc(F)];
        if self.roll(2) == 0 {
            body.push(load(C, at(X), self.pick(&[Relaxed, Acquire])));
        }
        let steps = 1 + self.roll(3);
        // A loop without accesses has no end that a machine could tell from waiting.
        let first = load(self.local(), at(self.class()), self.pick(&[Relaxed, Acquire]));
        let first = std::iter::once(if self.roll(2) == 0 { first } else { fence(Acquire) });
        let mut inside: Vec<Statement> = first.chain((0..steps).map(|_| self.step())).collect();
        inside.push(match self.roll(3) {
            0 => when(self.condition(), vec![leave()]),
            _ => when(v(E), vec![leave()]),
        });
        body.push(repeat(inside));
        let result = op(Operator::Add, op(Operator::Mul, v(B), int(4)), op(Operator::Mul, v(C), int(2)));
        body.push(store(cell(CELL, v(A)), op(Operator::Add, result, v(D)), Relaxed));
        let zero = store(at(self.class()), int(0), self.pick(&[Relaxed, Release]));
        let one = store(at(self.class()), int(1), self.pick(&[Relaxed, Release]));
        library(vec![method("try", 1, body), method("write", 0, vec![zero, one])])
    }
}

/// What complete executions end in, without loops that go on for longer than there is room; `None`: too many graphs.
fn ends(machine: &Machine, model: Model, room: usize) -> Option<BTreeSet<BTreeMap<String, Value>>> {
    struct Search<'m> {
        machine: &'m Machine,
        model: Model,
        room: usize,
        graph: Graph,
        at: Vec<Local>,
        seen: BTreeSet<String>,
        found: BTreeSet<BTreeMap<String, Value>>,
    }
    impl Search<'_> {
        fn look(&mut self) -> Option<()> {
            // Graphs that are the same but for the order of their events are looked at once.
            let mut events: Vec<String> = Vec::new();
            let name = |e: usize| format!("{:?}.{}", self.graph.events[e].thread, self.graph.events[e].index);
            for (number, event) in self.graph.events.iter().enumerate() {
                let from = self.graph.rf.before(number).iter().map(name).collect::<Vec<_>>();
                let after = self.graph.mo.before(number).len();
                events.push(format!("{} {:?} {:?} {from:?} {after}", name(number), event.loc, event.outcome));
            }
            events.sort();
            if !self.seen.insert(format!("{events:?}{:?}", self.at)) {
                return Some(());
            }
            if self.seen.len() > 20_000 {
                return None;
            }
            let actions: Vec<_> =
                (0..self.at.len()).map(|thread| self.machine.action(thread, &self.at[thread])).collect();
            if actions.iter().all(Option::is_none) {
                let mut end = BTreeMap::new();
                for (number, location) in self.machine.code().locations.iter().enumerate() {
                    let last = self.graph.last_write(seqcst_model::Loc(number as u8));
                    let value = last.and_then(|write| self.graph.events[write].outcome.value_written());
                    // Own nodes are nobody else's business.
                    if !location.hidden && !location.name.starts_with("node") && location.name != "never" {
                        end.insert(location.name.clone(), value.unwrap_or(0));
                    }
                }
                self.found.insert(end);
            }
            for (thread, action) in actions.iter().enumerate() {
                let Some(action) = action else { continue };
                if self.graph.thread_events(thread).len() >= self.room {
                    continue;
                }
                let is_fence = action.op == seqcst_model::Op::Fence;
                for write in 0..self.graph.len() {
                    let event = &self.graph.events[write];
                    let Some(value) = event.outcome.value_written() else { continue };
                    if is_fence && write > 0 || !is_fence && event.loc != Some(action.loc) {
                        continue;
                    }
                    for outcome in action.outcomes(value) {
                        let placement = (!is_fence).then_some(write);
                        self.graph.add(thread, action, outcome, placement)?;
                        if self.model.allows(&self.graph) {
                            let before = self.at[thread].clone();
                            for next in self.machine.after(thread, &before, outcome) {
                                if let Next::At(local) = next {
                                    self.at[thread] = local;
                                    self.look()?;
                                }
                            }
                            self.at[thread] = before;
                        }
                        self.graph.pop();
                    }
                }
            }
            Some(())
        }
    }
    let mut starts: Vec<Vec<Local>> = vec![vec![]];
    for thread in 0..machine.threads() {
        let ways = machine.start(thread).into_iter().filter_map(|next| match next {
            Next::At(local) => Some(local),
            Next::AssertionFailed(_) => None,
        });
        let ways: Vec<Local> = ways.collect();
        starts = starts
            .iter()
            .flat_map(|at| ways.iter().map(|way| [&at[..], std::slice::from_ref(way)].concat()))
            .collect();
    }
    let graph = Graph::new(machine.initial());
    let (seen, found) = (BTreeSet::new(), BTreeSet::new());
    let mut search = Search { machine, model, room, graph, at: vec![], seen, found };
    for at in starts {
        search.at = at;
        search.look()?;
    }
    Some(search.found)
}

#[test]
fn random_loops_end_in_the_same() {
    let call =
        |method: &str, arguments: &[i64]| Call { method: method.to_owned(), arguments: arguments.to_vec() };
    let client = Client { threads: vec![vec![call("try", &[0])], vec![call("write", &[])]] };
    let (mut changed, mut compared) = (0, 0);
    for seed in 0..300 {
        let library = Dice(seed).library();
        let after = apply(&library);
        if after.changes.is_empty() || !after.kept.is_empty() {
            continue;
        }
        changed += 1;
        let machine = |library: &Library| {
            let program = program(library, &client).ok()?;
            seqcst_program::check(&program).unwrap();
            Some(Machine::new(lower(&program, Model::Rc20).unwrap()))
        };
        let (Some(loops), Some(last)) = (machine(&library), machine(&after.library)) else { continue };
        for (model, few, many) in [(Model::Rc20, &loops, &last), (Model::Sc, &last, &loops)] {
            let room = |machine: &Machine| match (std::ptr::eq(machine, &last), model) {
                (true, _) => 40,
                (false, Model::Sc) => 20,
                (false, _) => 10,
            };
            let (Some(few), Some(many)) = (ends(few, model, room(few)), ends(many, model, room(many))) else {
                continue;
            };
            let extra: Vec<_> = few.difference(&many).collect();
            assert!(
                extra.is_empty(),
                "{seed} {model}: {extra:?}\n{}\n{}",
                text(&library, &library.methods[0].body),
                text(&library, &after.library.methods[0].body)
            );
            compared += 1;
        }
    }
    assert!(changed > 150 && compared > 300, "{changed} {compared}");
}
