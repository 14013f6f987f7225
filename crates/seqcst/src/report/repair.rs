//! How to repair a stale access: tried on the same schedule, under the stronger model.

use super::{chain, table};
use crate::rt::note::{Finding, Stale};
use crate::rt::site::Site;
use crate::rt::source::Closure;
use seqcst_explore::{Kind, Plan, Trace};
use seqcst_model::Model;
use std::fmt::Write;

/// Says what would help.
pub fn advise(text: &mut String, source: &mut Closure<'_>, trace: &Trace, stale: &Stale) {
    let chain = chain::find(trace, stale).unwrap_or_default();
    let mut places: Vec<String> = Vec::new();
    for &at in &chain {
        let step = &trace.steps[at as usize];
        let shown = table::short(step.site as Site);
        if matches!(step.op.kind, Kind::Load | Kind::Store | Kind::Rmw) && !places.contains(&shown) {
            places.push(shown);
        }
    }
    let places = if places.is_empty() { "the accesses above".to_owned() } else { places.join(", ") };
    let orders_help =
        matches!(source.options.model, Model::Rc11 | Model::Rc20) && !is_stale_under_ra(source, trace, stale);
    let _ = match (source.options.model, orders_help) {
        (_, true) => writeln!(text, "\nrepair: Release for the writes and Acquire for the reads at {places}"),
        (Model::Tso, _) => writeln!(
            text,
            "\nrepair: a fence(SeqCst) between the write and the later load of each thread, or a read-modify-write, or \
             SeqCst for the writes at {places}"
        ),
        _ => writeln!(
            text,
            "\nrepair: SeqCst for the accesses at {places}, or a fence(SeqCst) between the accesses of each thread among \
             them"
        ),
    };
}

/// Would it be stale if every access released and acquired?
fn is_stale_under_ra(source: &mut Closure<'_>, trace: &Trace, stale: &Stale) -> bool {
    let mut plan = Plan::default();
    plan.replay(trace.tape());
    source.world.notes.wanted = false;
    source.world.watch.model = Model::Ra;
    source.play(&plan, &mut Trace::default());
    source.world.watch.model = source.options.model;
    let same = |finding: &Finding| matches!(finding, Finding::Stale(other) if other.step == stale.step);
    source.findings().iter().any(same)
}
