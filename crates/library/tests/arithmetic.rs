//! Random expressions, once more: what the solver is told of them, and what programs of clients compute, is what they evaluate to
//! (and that, as another test shows, is what a compiler makes of them).

#[path = "../../c11/tests/c/random.rs"]
mod random;

use random::{Dice, Sample, readable};
use seqcst_c11::Options;
use seqcst_library::client::{Call, Client, program};
use seqcst_library::code::{AccessKind, Expr, Library, Method, Statement};
use seqcst_model::{Model, Next, Op, Program};
use seqcst_program::lower;
use seqcst_program::semantics::Machine;
use seqcst_proof::prove::segments::segments;
use seqcst_proof::prove::term::{BITS, Term};
use seqcst_proof::solver::formula::{Formula, Int, all};
use seqcst_proof::solver::{self, Answer, Pool, Question};

const HEAD: &str = "#include <stdatomic.h>\nstatic _Atomic long out;\n";

fn read(text: &str) -> Result<Library, u32> {
    seqcst_c11::read("lib.c", text.as_bytes(), &Options::default()).map_err(|error| error.line)
}

fn storing(name: &str, sample: &Sample, value: &str) -> String {
    let [(a, ..), (b, ..), (c, ..)] = sample.types;
    format!(
        "void {name}({a} a, {b} b, {c} c) {{ atomic_store_explicit(&out, {value}, memory_order_relaxed); }}"
    )
}

/// The value that a method stores, if that is all it does.
fn stored(method: &Method) -> Option<&Expr> {
    let (last, before) = method.body.split_last()?;
    let Statement::Access(access) = last else { return None };
    let AccessKind::Store { value, .. } = &access.kind else { return None };
    before.iter().all(|s| matches!(s, Statement::Assume(_))).then_some(value)
}

/// Values of the variables, and what comes out.
type Results = Vec<([i128; 3], i128)>;

/// Samples, and for each of them some values of the variables with what comes out (none where C defines nothing).
fn samples(
    seed: u64,
    number: impl Fn(&mut Dice, random::Ty) -> i128,
) -> (Vec<Sample>, Library, Vec<Results>) {
    let mut dice = Dice(seed);
    let make = |k: usize, sample: &Sample| storing(&format!("f{k}"), sample, &sample.ast.text());
    let (samples, _, library) = readable(&mut dice, 300, HEAD, make, read);
    let mut results = Vec::new();
    for (k, sample) in samples.iter().enumerate() {
        let method = library.methods.iter().find(|m| m.name == format!("f{k}")).unwrap();
        let mut known = Vec::new();
        for _ in 0..6 {
            let values = sample.types.map(|ty| number(&mut dice, ty));
            if let (true, Some(value)) = (sample.is_defined(&values), stored(method)) {
                let of = |local| method.parameters.iter().position(|p| *p == local).map(|at| values[at]);
                known.push((values, value.evaluate(&of).unwrap()));
            }
        }
        results.push(known);
    }
    (samples, library, results)
}

#[test]
fn the_solver_is_told_what_they_compute() {
    let (samples, library, results) = samples(0x2545_f491_4f6c_dd1d, Dice::number);
    let mut pool = Pool::new(solver::Options::default()).expect("Z3 is installed by cargo xtask setup");
    let (mut questions, mut is_exact) = (Vec::new(), Vec::new());
    for (k, known) in results.iter().enumerate() {
        let index = library.methods.iter().position(|m| m.name == format!("f{k}")).unwrap();
        let segments = segments(index, &library.methods[index]);
        let Some(term) = segments.first().and_then(|s| s.steps.last()).and_then(|s| s.written()) else {
            continue;
        };
        let mut has_phi = false;
        term.visit(&mut |t| has_phi |= matches!(t, Term::Phi(_)));
        if known.is_empty() || has_phi {
            continue;
        }
        let mut declarations: Vec<String> = BITS.iter().map(|d| (*d).to_owned()).collect();
        let (mut given, mut equal) = (Vec::new(), Vec::new());
        for (slot, (values, result)) in known.iter().enumerate() {
            for (parameter, value) in values.iter().enumerate() {
                let argument = Int::constant(format_args!("a_{slot}_{parameter}"));
                declarations.push(argument.declaration());
                given.push(argument.equals(Int::from(*value)));
            }
            equal.push(term.integer(slot).equals(Int::from(*result)));
        }
        let all_equal = all(&equal);
        let text = all_equal.to_string();
        let mut ask = |claim: Formula| {
            let assertions =
                vec![("given".to_owned(), all(&given).to_string()), ("claim".to_owned(), claim.to_string())];
            let name = format!("{:?} {}", samples[k].types, samples[k].ast.text());
            let declarations = declarations.clone();
            questions.push(Question { name, declarations, assertions, evaluate: Vec::new() });
        };
        // Operations of which nothing is known may have that result; others have no other one.
        ask(all_equal.clone());
        is_exact.push(false);
        if !text.contains("bits_") && !text.contains("negative_") {
            ask(!all_equal);
            is_exact.push(true);
        }
    }
    let names: Vec<String> = questions.iter().map(|q| q.name.clone()).collect();
    assert!(is_exact.len() > 200 && is_exact.iter().filter(|e| **e).count() > 60, "{}", is_exact.len());
    let answers = pool.ask_all(questions).unwrap();
    for ((answer, is_exact), name) in answers.iter().zip(is_exact).zip(names) {
        match answer {
            Answer::Sat { .. } => assert!(!is_exact, "{name} has another result"),
            Answer::Unsat { .. } => assert!(is_exact, "{name} doesn't have its result"),
            Answer::Unknown { .. } => {}
        }
    }
}

#[test]
fn clients_compute_them() {
    let small = |dice: &mut Dice, (_, bits, signed): random::Ty| {
        let value: i128 = [0, 1, 2, 3, 5, 8, 100, 127, -1, -2, -7, -128][dice.roll(12)];
        match signed {
            true => value,
            false if bits > 16 => value.abs(),
            false => value.rem_euclid(1 << bits),
        }
    };
    let (samples, _, results) = samples(0x1234_5678_9abc_def1, small);
    // A method for each result: is it that?
    let (mut text, mut calls) = (HEAD.to_owned(), Vec::new());
    for (sample, known) in samples.iter().zip(results) {
        for (values, result) in known {
            let Ok(result) = i64::try_from(result) else { continue };
            if result == i64::MIN {
                continue;
            }
            let claim = format!("(long)({}) == {result}l", sample.ast.text());
            text += &(storing(&format!("g{}", calls.len()), sample, &claim) + "\n");
            calls.push((values.map(|v| v as i64).to_vec(), claim));
        }
    }
    let library = read(&text).unwrap();
    let mut compared = 0;
    for (k, (arguments, claim)) in calls.into_iter().enumerate() {
        let call = Call { method: format!("g{k}"), arguments: arguments.clone() };
        // Numbers that are too large, and the like.
        let Ok(program) = program(&library, &Client { threads: vec![vec![call]] }) else { continue };
        let machine = Machine::new(lower(&program, Model::Rc20).unwrap());
        for next in machine.start(0) {
            let Next::At(local) = next else { panic!("{claim}") };
            let action = machine.action(0, &local).unwrap();
            assert_eq!(action.op, Op::Store(1), "{claim} with {arguments:?}");
            compared += 1;
        }
    }
    assert!(compared > 300, "{compared}");
}
