//! What the monitors find in an exploration: noted in the shared memory, not told to people.

use super::{memo, scheduler};
use crate::context;
use crate::options::{self, Waits};
use crate::report::{self, Access, Kind};
use seqcst_explore::wire::Finding;

/// Notes a finding, unless people don't want to hear of it.
#[cold]
pub fn note(kind: Kind, access: &Access, other: Option<&Access>) {
    let Some(scheduler) = scheduler::get().filter(|_| super::active()) else { return };
    if kind == Kind::Wait && options::get().waits == Waits::Count {
        return;
    }
    let frames = context::frames(access.site);
    let others = other.map(|other| context::frames(other.site)).unwrap_or_default();
    let site = |frames: &[usize]| frames.first().map_or(0, |&pc| pc as u64);
    let (pc, other_pc) = (site(&frames), site(&others));
    let key = memo::key([kind.number() as usize].into_iter().chain(frames).chain([0]).chain(others));
    if memo::ask(key, || report::counts_as_error(kind, access, other)) {
        let kind = match kind {
            Kind::Stale | Kind::Wait => 0,
            Kind::Race => 1,
            Kind::Misuse(_) => 2,
        };
        scheduler.shared.found(Finding { kind, step: scheduler.now(), site: pc, other: other_pc });
    }
}

/// Do both instructions come from the same place in the source?
pub fn same_source(pc: usize, other: usize, find: impl FnOnce() -> bool) -> bool {
    memo::ask(memo::key([pc, other]), find)
}
