//! Counters that would wrap around some day: a proof may take it for granted that they don't, and says so.
//!
//! What C computes is modelled exactly, wrap-around included, so nothing that adds to an unsigned (or atomic) number is a counter
//! in the end. Most proofs about queues and tickets need counters, and nobody draws 2^64 tickets. So if a class is a counter but
//! for the wrap-around, its writes count on, and no number there is above a ceiling. That is an assumption, and part of the
//! answer. Only counting on by little, in at least 32 bits, is assumed not to wrap: adding -1 to an unsigned number always does.

use super::execution::ProofContext;
use super::facts::Facts;
use super::segments::{Action, Segment};
use super::term::Term;
use seqcst_c11::code::{Class, ClassId, Integer};

/// Counting on by more than this is no counting.
const MOST: i128 = 1 << 16;

/// The number without wrap-around, if that is a counter's: it wraps around where its class does, not before.
pub fn counting(value: &Term, of: Integer) -> &Term {
    match value {
        Term::Wrap(to, inner) if *to == of && of.bits >= 32 => match inner.split_constant() {
            (Some(_), by) if (1..=MOST).contains(&by) => inner,
            _ => value,
        },
        _ => value,
    }
}

/// No number of a counter is above. With 64 bits, one bit is left out, so that numbers may be seen as signed ones.
fn ceiling(integer: Integer) -> i128 {
    integer.greatest().min(Integer::LONG.greatest())
}

/// Does a class begin far from where it would wrap around?
fn is_far(class: &Class) -> bool {
    class.initial_cell.is_some() || class.initial <= ceiling(class.integer) / 2
}

/// Lets counters that are known to be some count on; those that would wrap around soon are none.
pub fn assume(segments: &mut [Segment], facts: &mut Facts, classes: &[Class]) {
    for (k, (class, facts)) in classes.iter().zip(&mut facts.classes).enumerate() {
        let mut counting = segments.to_vec();
        if facts.counter.is_none() || !count_on(&mut counting, ClassId(k as u32), class.integer) {
            continue;
        }
        if is_far(class) {
            facts.ceiling = Some(ceiling(class.integer));
            segments.clone_from_slice(&counting);
        } else {
            facts.counter = None;
        }
    }
}

/// What may be tried to show that a class is a counter: as it is, and (if `is_counter`) without wrap-around.
pub fn ways(
    segments: &[Segment],
    facts: &Facts,
    classes: &[Class],
    class: ClassId,
    is_counter: bool,
) -> Vec<(Vec<Segment>, Facts)> {
    let mut ways = vec![(segments.to_vec(), facts.clone())];
    let mut counting = segments.to_vec();
    let declared = &classes[class.0 as usize];
    if is_counter && is_far(declared) && count_on(&mut counting, class, declared.integer) {
        let mut facts = facts.clone();
        facts.classes[class.0 as usize].ceiling = Some(ceiling(declared.integer));
        ways.push((counting, facts));
    }
    ways
}

/// Takes the wrap-around away from writes to a class that count on. Were there any?
fn count_on(segments: &mut [Segment], class: ClassId, of: Integer) -> bool {
    let mut any = false;
    for step in segments.iter_mut().flat_map(|s| &mut s.steps).filter(|s| s.class == Some(class)) {
        let value = match &mut step.action {
            Action::Write { value } | Action::Update { value } => value,
            Action::Cas { desired, .. } => desired,
            _ => continue,
        };
        let without = counting(value, of);
        if without != value {
            *value = without.clone();
            any = true;
        }
    }
    any
}

/// What a proof takes for granted here, in words.
pub fn assumptions(context: &ProofContext) -> Vec<String> {
    let classes = context.library.classes.iter().zip(&context.facts.classes);
    classes
        .filter_map(|(class, facts)| {
            let bits = (facts.ceiling? + 1).ilog2();
            Some(format!(
                "`{}` counts on without wrapping around: its numbers stay below 2^{bits}",
                class.name
            ))
        })
        .collect()
}
