//! Which strengthening would have ordered the accesses of a chain. Pure: links in, advice out.
//!
//! A chain visits threads one after the other; what it does in one thread is a *part*, from the access by which it
//! comes to the one by which it leaves (in the last part, the stale access itself). If every step between parts is a
//! read of a write, release and acquire on these suffice: then each part happens before the next, and the stale access
//! knows the missed write. Where a step goes by `fr` or `mo`, no release or acquire helps: each part needs an SC fence,
//! or, where both of its ends are accesses, SC accesses there; their order then follows the chain.

use crate::journal::{Edge, EventKind, Link};
use seqcst_model::{Mode, Model};

/// What could be done.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Repair {
    /// These accesses are too weak: make them at least so strong.
    Strengthen(Vec<(usize, Needs)>),
    /// SC fences between these links and the ones after them (the last link is followed by the stale access); or these
    /// accesses SC, where some others are already (the stale access is the one after the last link); or all of them.
    Fences { open: Vec<usize>, weak: Vec<usize> },
    /// Under TSO: SC fences between these stores and the loads after them, or SC stores.
    Flush(Vec<usize>),
    /// The chain doesn't tell.
    Unknown,
}

/// What an access needs, beyond what it has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Needs {
    /// To release.
    Release,
    /// To acquire.
    Acquire,
    /// Both.
    Both,
}

/// The cheapest repair of a chain that we know. `access` is the order of the stale access.
pub fn repair(chain: &[Link], access: Option<Mode>, model: Model) -> Repair {
    let crossings = || {
        let later = chain.iter().enumerate().skip(1);
        later.filter(|(_, link)| link.edge != Edge::Program)
    };
    if chain.is_empty() {
        return Repair::Unknown;
    }
    if crossings().all(|(_, link)| matches!(link.edge, Edge::ReadsFrom | Edge::Synchronises)) {
        let mut weak: Vec<(usize, Needs)> = Vec::new();
        let mut need = |index: usize, needs: Needs| match weak.last_mut() {
            Some((last, both)) if *last == index => *both = Needs::Both,
            _ => weak.push((index, needs)),
        };
        for (index, link) in crossings().filter(|(_, link)| link.edge == Edge::ReadsFrom) {
            // Who reads the missed write itself knows it, synchronised or not.
            if index == 1 {
                continue;
            }
            if !chain[index - 1].released {
                need(index - 1, Needs::Release);
            }
            if !link.acquired {
                need(index, Needs::Acquire);
            }
        }
        return if weak.is_empty() { Repair::Unknown } else { Repair::Strengthen(weak) };
    }
    let is_sc = |index: usize| chain.get(index).map_or(access, |link| Some(link.mode)) == Some(Mode::SeqCst);
    // SC accesses are ordered by RC11 as they are; elsewhere each of them has a fence before it, which is noted.
    let by_accesses = |index: usize| model == Model::Rc11 && is_sc(index) && is_sc(index + 1);
    let is_open = |&index: &usize| is_part(chain, index) && !chain[index].fenced && !by_accesses(index);
    let open: Vec<usize> = (0..chain.len()).filter(is_open).collect();
    if open.is_empty() {
        return Repair::Unknown;
    }
    let mut weak: Vec<usize> = Vec::new();
    if model == Model::Rc11 && (0..=chain.len()).any(is_sc) {
        weak.extend(open.iter().flat_map(|&index| [index, index + 1]).filter(|&index| !is_sc(index)));
        weak.dedup();
    }
    Repair::Fences { open, weak }
}

/// Does the chain go on from this link in the same thread?
fn is_part(chain: &[Link], index: usize) -> bool {
    chain.get(index + 1).is_none_or(|next| next.edge == Edge::Program)
}

/// The same under TSO, where only stores wait, and only loads go ahead of them.
pub fn under_tso(chain: &[Link]) -> Repair {
    let goes_ahead = |index: usize| chain.get(index + 1).is_none_or(|next| next.what == EventKind::Load);
    let waits = |&index: &usize| {
        let link = &chain[index];
        is_part(chain, index)
            && link.what == EventKind::Store
            && link.mode != Mode::SeqCst
            && !link.flushed
            && goes_ahead(index)
    };
    let open: Vec<usize> = (0..chain.len()).filter(waits).collect();
    if open.is_empty() { Repair::Unknown } else { Repair::Flush(open) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::Site;
    use Edge::*;

    fn link(edge: Edge, mode: Mode) -> Link {
        Link {
            edge,
            thread: 0,
            what: EventKind::Load,
            mode,
            addr: 0,
            size: 4,
            site: Site::UNKNOWN,
            released: mode.is_release(),
            acquired: mode.is_acquire(),
            fenced: false,
            flushed: false,
        }
    }

    fn of(edges: &[(Edge, Mode)]) -> Repair {
        let chain: Vec<_> = edges.iter().map(|&(edge, mode)| link(edge, mode)).collect();
        repair(&chain, Some(Mode::Relaxed), Model::Rc11)
    }

    #[test]
    fn message_passing_needs_release_and_acquire() {
        use Mode::*;
        let both = Repair::Strengthen(vec![(1, Needs::Release), (2, Needs::Acquire)]);
        assert_eq!(of(&[(Start, Relaxed), (Program, Relaxed), (ReadsFrom, Relaxed)]), both);
        let read = Repair::Strengthen(vec![(2, Needs::Acquire)]);
        assert_eq!(of(&[(Start, Relaxed), (Program, Release), (ReadsFrom, Relaxed)]), read);
        let write = Repair::Strengthen(vec![(1, Needs::Release)]);
        assert_eq!(of(&[(Start, Relaxed), (Program, Relaxed), (ReadsFrom, SeqCst)]), write);
    }

    #[test]
    fn who_reads_the_missed_write_knows_it() {
        use Mode::*;
        let chain = [(Start, Relaxed), (ReadsFrom, Relaxed), (Program, Relaxed), (ReadsFrom, Relaxed)];
        assert_eq!(of(&chain), Repair::Strengthen(vec![(2, Needs::Release), (3, Needs::Acquire)]));
        // One RMW in the middle, read and written.
        let chain = [(Start, Relaxed), (Program, Release), (ReadsFrom, Relaxed), (ReadsFrom, Acquire)];
        assert_eq!(of(&chain), Repair::Strengthen(vec![(2, Needs::Both)]));
    }

    #[test]
    fn store_buffering_needs_fences() {
        use Mode::*;
        let chain = [(Start, Release), (Program, Acquire), (FromRead, Release)];
        assert_eq!(of(&chain), fences(&[0, 2], &[]));
        let mut links = chain.map(|(edge, mode)| link(edge, mode));
        links[0].fenced = true;
        assert_eq!(repair(&links, Some(Relaxed), Model::Rc11), fences(&[2], &[]));
        links[2].fenced = true;
        assert_eq!(repair(&links, Some(Relaxed), Model::Rc11), Repair::Unknown);
    }

    fn fences(open: &[usize], weak: &[usize]) -> Repair {
        Repair::Fences { open: open.to_vec(), weak: weak.to_vec() }
    }

    #[test]
    fn accesses_that_are_sc_already_need_nothing() {
        use Mode::*;
        let chain = [(Start, SeqCst), (Program, SeqCst), (FromRead, Release)];
        let links = chain.map(|(edge, mode)| link(edge, mode));
        assert_eq!(repair(&links, Some(SeqCst), Model::Rc11), fences(&[2], &[2]));
        assert_eq!(repair(&links, Some(Acquire), Model::Rc11), fences(&[2], &[2, 3]));
        // Elsewhere an SC access is a fence and an access: none was noted.
        assert_eq!(repair(&links, Some(SeqCst), Model::Rc20), fences(&[0, 2], &[]));
    }

    #[test]
    fn under_tso_stores_are_flushed() {
        use Mode::*;
        let mut links =
            [(Start, Relaxed), (Program, Relaxed), (FromRead, Release)].map(|(edge, mode)| link(edge, mode));
        (links[0].what, links[2].what) = (EventKind::Store, EventKind::Store);
        assert_eq!(under_tso(&links), Repair::Flush(vec![0, 2]));
        links[0].mode = SeqCst;
        assert_eq!(under_tso(&links), Repair::Flush(vec![2]));
        links[2].flushed = true;
        assert_eq!(under_tso(&links), Repair::Unknown);
        // Loads don't go ahead of loads.
        links[0] = link(Start, Relaxed);
        assert_eq!(under_tso(&links), Repair::Unknown);
        assert_eq!(under_tso(&[]), Repair::Unknown);
    }

    #[test]
    fn independent_reads_need_fences_between_the_reads() {
        use Mode::*;
        let chain = [
            (Start, Release),
            (ReadsFrom, Acquire),
            (Program, Acquire),
            (FromRead, Release),
            (ReadsFrom, Acquire),
        ];
        assert_eq!(of(&chain), fences(&[1, 4], &[]));
    }

    #[test]
    fn nothing_known() {
        use Mode::*;
        assert_eq!(of(&[]), Repair::Unknown);
        assert_eq!(of(&[(Start, Relaxed), (Program, Release), (Synchronises, Acquire)]), Repair::Unknown);
    }
}
