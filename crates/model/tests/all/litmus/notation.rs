//! Litmus tests in one line: `x=1; a=y || y=1.rel; b=cas(x,0,1).sc/acq`, observed `a=0 b=0`.

use seqcst_model::oracle::{self, Candidate};
use seqcst_model::sample::{Kind, Operand, RandomProgram, Statement};
use seqcst_model::{Graph, Loc, Mode, Model, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

const LOCATIONS: &str = "xyzt";

/// A program and a question about how it may end.
pub struct Litmus {
    pub program: RandomProgram,
    /// Names of registers, per thread in the order of its reads.
    registers: Vec<Vec<char>>,
    observed: BTreeMap<char, Value>,
}

fn location(name: &str) -> Option<Loc> {
    let mut letters = name.chars();
    let number = LOCATIONS.find(letters.next()?)?;
    letters.next().is_none().then_some(Loc(number as u8))
}

fn mode(name: &str) -> Mode {
    match name {
        "rlx" => Mode::Relaxed,
        "acq" => Mode::Acquire,
        "rel" => Mode::Release,
        "acq_rel" => Mode::AcqRel,
        "sc" => Mode::SeqCst,
        _ => panic!("no mode is called {name}"),
    }
}

/// The statement, and the register it reads into.
fn statement(text: &str, last_read: Option<char>) -> (Statement, Option<char>) {
    let (guarded, text) = text.strip_prefix('?').map_or((false, text), |rest| (true, rest));
    let (text, modes) = text.split_once('.').unwrap_or((text, ""));
    let (success, failure) = modes.split_once('/').map_or((modes, None), |(s, f)| (s, Some(mode(f))));
    let mode = if success.is_empty() { Mode::Relaxed } else { mode(success) };
    if text == "F" {
        let mode = if mode == Mode::Relaxed { Mode::SeqCst } else { mode };
        return (Statement { guarded, kind: Kind::Fence, loc: Loc(0), mode, failure: None }, None);
    }
    let (left, right) = text.split_once('=').expect("an assignment");
    let made = |kind, loc| Statement { guarded, kind, loc, mode, failure };
    if let Some(loc) = location(left) {
        let operand = match right.parse() {
            Ok(value) => Operand::Const(value),
            Err(_) => {
                assert_eq!(right.chars().next(), last_read, "only the value read last can be stored");
                Operand::Register(0)
            }
        };
        return (made(Kind::Store(operand), loc), None);
    }
    let register = left.chars().next();
    if let Some((name, add)) = right.split_once('+') {
        let add = Operand::Const(add.parse().expect("a number"));
        return (made(Kind::FetchAdd(add), location(name).expect("a location")), register);
    }
    if let Some(operands) = right.strip_prefix("cas(").and_then(|rest| rest.strip_suffix(')')) {
        let operands: Vec<&str> = operands.split(',').collect();
        let value = |n: usize| operands[n].parse::<Value>().expect("a number");
        let loc = location(operands[0]).expect("a location");
        return (made(Kind::Cas(value(1), Operand::Const(value(2))), loc), register);
    }
    (made(Kind::Load, location(right).expect("a location")), register)
}

impl Litmus {
    pub fn parse(program: &str, observed: &str) -> Litmus {
        let mut threads = Vec::new();
        let mut registers = Vec::new();
        for thread in program.split("||") {
            let mut names: Vec<char> = Vec::new();
            let mut statements = Vec::new();
            for text in thread.split(';') {
                let (statement, register) = statement(text.trim(), names.last().copied());
                statements.push(statement);
                names.extend(register);
            }
            threads.push(statements);
            registers.push(names);
        }
        let observed = observed.split_whitespace().map(|equation| {
            let (name, value) = equation.split_once('=').expect("an equation");
            (name.chars().next().expect("a name"), value.parse().expect("a number"))
        });
        let used = LOCATIONS.chars().rev().position(|name| program.contains(name)).expect("a location");
        let program =
            RandomProgram { modulus: 3, locations: LOCATIONS.len() - used, non_atomic: false, threads };
        Litmus { program, registers, observed: observed.collect() }
    }

    /// Whether the model allows what was observed.
    pub fn allowed(&self, model: Model) -> bool {
        self.observations(model)
            .iter()
            .any(|end| self.observed.iter().all(|(name, value)| end.get(name) == Some(value)))
    }

    /// The ways in which finished runs may end: the values of registers and locations.
    pub fn observations(&self, model: Model) -> BTreeSet<BTreeMap<char, Value>> {
        let mut found = BTreeSet::new();
        let enumerated = oracle::consistent(
            &self.program.lower(model),
            model,
            1_000_000,
            |Candidate { graph, complete }| {
                if complete {
                    found.insert(self.end(graph));
                }
                ControlFlow::Continue(())
            },
        );
        assert_eq!(enumerated, Ok(()));
        found
    }

    fn end(&self, graph: &Graph) -> BTreeMap<char, Value> {
        let observation = oracle::observation(graph, self.registers.len(), self.program.locations);
        let mut end: BTreeMap<char, Value> = LOCATIONS.chars().zip(observation.memory).collect();
        for (thread, names) in self.registers.iter().enumerate() {
            // What is read from the hidden location goes to no register.
            let mut reads: Vec<_> = graph.events.iter().filter(|e| e.thread == Some(thread)).collect();
            reads.retain(|e| e.is_read() && e.loc.is_some_and(|loc| loc.index() < self.program.locations));
            reads.sort_by_key(|e| e.index);
            end.extend(names.iter().copied().zip(reads.iter().filter_map(|e| e.outcome.value_read())));
        }
        end
    }
}
