//! What an answer takes for granted, and where a program gives occasion to.

use crate::analysis::{Analysis, UserOptions};
use crate::foreign;
use crate::ir::inline::Reason;
use crate::ir::lower::Assumptions;
use crate::ir::source::place;
use crate::machine::Machine;
use crate::robust::Question;

/// Something that an answer takes for granted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Assumption {
    /// What programs call it.
    pub name: &'static str,
    /// The same in words.
    pub words: String,
}

/// What the answer to a question takes for granted.
pub(crate) fn assumptions(analysis: &Analysis, question: Question) -> Vec<Assumption> {
    let UserOptions { atomics_only, client, rcpc, trust_dependencies, .. } = analysis.options;
    let Question { from, to, features, .. } = question;
    let armv8 = features.rcpc && (from == Machine::ArmV8 || to == Machine::ArmV8);
    let cut = analysis.ported.notes.iter().any(|note| note.reason == Reason::Recursion);
    let Assumptions { calls, allocators, streams, types, glue, whole, signals } = analysis.ported.assumptions;
    let past_caches = analysis.code.files.iter().any(|file| file.module.nontemporal);
    let host = compiled_for_host(&analysis.compilation.for_host);
    let assembly = format!("inline assembly that is not for {to} is replaced there by what does the same");
    let all: Vec<(bool, &str, &str)> = vec![
        (atomics_only, "no-data-race", "no data race: only atomic accesses are looked at"),
        (
            client,
            "one-object",
            "any thread calls the functions in any order, all on one object: each gets the same arguments in every call",
        ),
        (
            trust_dependencies && to == Machine::ArmV8,
            "dependencies-kept",
            "the compiler keeps dependencies: they order accesses on armv8",
        ),
        (armv8 && rcpc, "rcpc", "acquire loads on armv8 are ldapr"),
        (
            armv8 && !rcpc,
            "rcpc",
            "acquire loads on armv8 are ldapr: the code is for a processor that may have it",
        ),
        (!analysis.compilation.for_host.is_empty(), "compiled-for-host", &host),
        (!foreign::assembly(analysis, to).is_empty(), "assembly-replaced", &assembly),
        (
            analysis.ported.one_caller,
            "one-caller",
            "one thread calls the functions that others can call, one call after the other (--client: any thread)",
        ),
        (
            analysis.compilation.for_host.is_empty() && analysis.for_others(to).next().is_some(),
            "compiled-for-another",
            "the code is what it is on the machine that it was compiled for, which is not the one that it goes to",
        ),
        (
            cut,
            "recursion-cut",
            "where a function calls itself, the inner call accesses everything that threads share, in no order",
        ),
        (
            calls,
            "calls-ported",
            "what an unknown call does inside is ordered there as its author wants it: only what is around it is looked at",
        ),
        (types, "types", "a variable of type `struct s *` holds the address of an `s`"),
        (
            allocators,
            "allocators",
            "allocators look after themselves, give memory out again only once they have had it back, and order nothing else",
        ),
        (streams, "streams", "`FILE` streams look after themselves, and order nothing else"),
        (whole, "whole-program", "no other file calls the functions of these files by name"),
        (
            glue,
            "methods-of-all",
            "destructors and formatting functions that are called through tables of methods tell other threads nothing",
        ),
        (
            signals && to != Machine::X86,
            "signals",
            "a signal handler counts as another thread than the one that it interrupts: the way there and back is a fence",
        ),
        (
            past_caches && to == Machine::X86,
            "past-caches",
            "an sfence stands behind stores that go past the caches, where their order matters",
        ),
    ];
    let in_force = all.into_iter().filter(|(yes, ..)| *yes);
    let named = in_force.map(|(_, name, words)| Assumption { name, words: words.to_owned() });
    named.chain(weak_failures(analysis, question)).collect()
}

/// That files were compiled for this machine, with the reason for the first.
fn compiled_for_host(files: &[(String, String)]) -> String {
    let Some((name, why)) = files.first() else { return String::new() };
    let (which, verb) = match files.len() {
        1 => (name.clone(), "is what it is"),
        2 => (format!("{name} and 1 more file"), "are what they are"),
        many => (format!("{name} and {} more files", many - 1), "are what they are"),
    };
    format!("{which} {verb} on this machine: {why}")
}

/// That a compare-and-swap may fail for no reason, where exclusive accesses may be refused, and is not simply tried again.
fn weak_failures(analysis: &Analysis, question: Question) -> Option<Assumption> {
    let Question { from, to, .. } = question;
    let news = matches!(from, Machine::Sc | Machine::X86) && matches!(to, Machine::ArmV8 | Machine::ArmV7);
    let sites = &analysis.ported.gives_up;
    if !news || sites.is_empty() {
        return None;
    }
    let mut places: Vec<String> = sites
        .iter()
        .filter_map(|&site| place(&analysis.code, site))
        .map(|place| format!("{}:{}", place.file, place.line))
        .collect();
    places.dedup();
    let at = if places.is_empty() { String::new() } else { format!(" ({})", places.join(", ")) };
    let words = format!(
        "a weak compare-and-swap that is not tried again at once{at} may fail for no reason: on {to} it does, on {from} it never did"
    );
    Some(Assumption { name: "weak-failures", words })
}
