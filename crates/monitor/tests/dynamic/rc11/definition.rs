//! What an SC event comes after, on the execution graph: by the definition of `psc` and nothing else.

use super::is_sc;
use crate::definition::Past;
use crate::trace::{Happening, LOCATIONS};
use seqcst_model::{Loc, Mode, Model};

/// Of each location, the newest write that accesses after some SC event can't miss: number in modification order, by SC
/// accesses and by what lies behind SC fences.
pub type Covers = Vec<([usize; LOCATIONS], [usize; LOCATIONS])>;

/// One for each SC event of the run.
pub fn covers(run: &[Happening]) -> Covers {
    let mut past = Past::new(Model::Rc11);
    let mut covers = Vec::new();
    for happening in run {
        past.add(happening);
        if is_sc(happening) {
            covers.push(last_cover(&past));
        }
    }
    covers
}

/// That of the last event.
fn last_cover(past: &Past) -> ([usize; LOCATIONS], [usize; LOCATIONS]) {
    let graph = &past.graph;
    let last = graph.len() - 1;
    let psc = Model::partial_sc_order(graph).star();
    let hb = Model::Rc11.happens_before(graph);
    let seen = &hb | &graph.rf.seq(&hb);
    let (mut written_to, mut seen_to) = ([0; LOCATIONS], [0; LOCATIONS]);
    for event in graph.with_mode(Mode::SeqCst).iter().filter(|&event| psc.contains(event, last)) {
        for x in 0..LOCATIONS {
            for write in (graph.accesses(Loc(x as u8)) & graph.writes()).iter() {
                let number = graph.mo.before(write).len();
                let is_fence = graph.events[event].is_fence();
                if write == event || is_fence && hb.contains(write, event) {
                    written_to[x] = number.max(written_to[x]);
                    seen_to[x] = number.max(seen_to[x]);
                }
                if is_fence && seen.contains(write, event) {
                    seen_to[x] = number.max(seen_to[x]);
                }
            }
        }
    }
    (written_to, seen_to)
}
