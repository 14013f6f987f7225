//! What expressions over numbers of all types compute is what the compiler's code computes.

use super::agree::execute;
use super::agree::run::Machine;
use super::random::{Dice, readable};
use seqcst_c11::Options;

#[test]
fn random_expressions() {
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let make = |k: usize, s: &super::random::Sample| {
        let [(a, ..), (b, ..), (c, ..)] = s.types;
        format!("long f{k}({a} a, {b} b, {c} c) {{ return {}; }}", s.ast.text())
    };
    let read =
        |text: &str| seqcst_c11::read("lib.c", text.as_bytes(), &Options::default()).map_err(|e| e.line);
    let (samples, text, library) = readable(&mut dice, 600, "", make, read);
    assert!(samples.len() > 400, "{}", samples.len());
    let mut machine = Machine::new(&library);
    let (mut program, mut expected, mut asked) = (String::new(), String::new(), Vec::new());
    for (k, sample) in samples.iter().enumerate() {
        let method = library.methods.iter().find(|m| m.name == format!("f{k}")).unwrap();
        for _ in 0..12 {
            let values = sample.types.map(|ty| dice.number(ty));
            if !sample.is_defined(&values) {
                continue;
            }
            let (result, _) = machine.call(method, &values);
            program += &format!("printf(\"%ld\\n\", f{k}({}));\n", sample.arguments(&values));
            expected += &format!("{result}\n");
            asked.push(format!("{:?} {:?}: {}", sample.types, values, sample.ast.text()));
        }
    }
    assert!(asked.len() > 3000, "{}", asked.len());
    let computed = execute(&text, "", &program);
    let mut wrong = String::new();
    for ((ours, theirs), what) in expected.lines().zip(computed.lines()).zip(asked) {
        if ours != theirs {
            wrong += &format!("{what} is {theirs}, not {ours}\n");
        }
    }
    assert!(wrong.is_empty() && expected.lines().count() == computed.lines().count(), "{wrong}");
}
