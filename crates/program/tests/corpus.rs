//! Every program at hand is read without error, lowered for every target, and survives printing.

mod common;

use seqcst_model::Model;
use seqcst_program::{code::Instr, lower, parse, print};

#[test]
fn every_program_parses_lowers_and_prints() {
    let programs = common::all_programs();
    assert!(!programs.is_empty(), "this crate has programs of its own to test on");
    for (path, source) in programs {
        let name = path.to_string_lossy();
        let parsed = parse(&source, &name).unwrap_or_else(|error| {
            let (line, column) = error.line_column(&source);
            panic!("{name}:{line}:{column}: {error}")
        });
        let printed = print(&parsed.program);
        let again = parse(printed.as_bytes(), "printed.tpl")
            .unwrap_or_else(|error| panic!("{name}: printed, it fails with {error}\n{printed}"));
        assert_eq!(parsed.program, again.program, "{name}: printing changed the program\n{printed}");
        assert_eq!(printed, print(&again.program), "{name}: printing is not stable");

        for model in Model::WATCHED {
            let code = lower(&parsed.program, model).expect("programs are checked against this model");
            assert!(code.locations.len() <= 64 && code.threads.len() <= 32);
            for thread in &code.threads {
                assert_eq!(thread.instrs.last(), Some(&Instr::End), "{name}: {} has an end", thread.name);
                let within = |pc: &u32| (*pc as usize) < thread.instrs.len();
                for instr in &thread.instrs {
                    let jumps_within = match instr {
                        Instr::Branch(_, pc) | Instr::Jump(pc) => within(pc),
                        Instr::Choose(pcs) => !pcs.is_empty() && pcs.iter().all(within),
                        Instr::Access(access) => access.loc.index() < code.locations.len(),
                        _ => true,
                    };
                    assert!(jumps_within, "{name}: {instr:?} of {} leads nowhere", thread.name);
                }
            }
        }
    }
}
