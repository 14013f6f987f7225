//! What if a load that could be stale were? If its thread then comes back to the load, having done nothing that others
//! can see, and from there does the same as if the load had not been stale, it only waits longer: that is no violation
//! (`docs/theory.md`, "Benign waits at run time"). Here it can be tried. The execution is played again up to the load, which is
//! given the old value, and once more as it was, and what the thread does up to its next effect is compared.

use super::note::Stale;
use super::site::Site;
use super::world::{Way, World};
use seqcst_explore::{Kind, Op, ThreadId};
use seqcst_monitor::clocks::Look;

/// What a thread did: where, what, and the value that it read or wrote.
pub type Did = (Site, Kind, u64);

/// More is not compared.
const LONGEST: usize = 200;

/// A load that is given an old value, or is watched only.
#[derive(Debug)]
pub struct WhatIf {
    /// Which step.
    step: u32,
    value: Option<u64>,
    state: State,
    /// What the thread did since it came to the load and read what is there.
    did: Vec<Did>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    NotYet,
    /// The load has been given the old value.
    Since(ThreadId, Site, u32),
    /// The thread came to the load and reads what is there.
    After(ThreadId),
    /// Enough was seen.
    Done,
    /// The thread did something else than to come back.
    Matters,
}

impl WhatIf {
    /// Before an execution in which the load at this step has this old value, or the one that it has.
    pub fn new(step: u32, value: Option<u64>) -> WhatIf {
        WhatIf { step, value, state: State::NotYet, did: Vec::new() }
    }

    /// After it: what the thread did since it read what is there; None: it never did so.
    pub fn since(self) -> Option<Vec<Did>> {
        matches!(self.state, State::After(_) | State::Done).then_some(self.did)
    }
}

/// Can reading this old value come to nothing but a longer wait? Writes can't, nor can exchanges that it lets succeed.
pub fn can_wait(stale: &Stale, value: u64) -> bool {
    match stale.access.look {
        Look::Load => !stale.access.rmw,
        Look::StrongCas(expected) => value != expected,
        _ => false,
    }
}

impl World {
    /// The old value for the step that the running thread is about to take.
    #[inline]
    pub fn old_value(&mut self, site: Site, atomic: u32) -> Option<u64> {
        let what_if = self.what_if.as_mut()?;
        if what_if.state != State::NotYet || what_if.step as usize != self.trace.steps.len() {
            return None;
        }
        what_if.state = match what_if.value {
            Some(_) => State::Since(self.current, site, atomic),
            None => State::After(self.current),
        };
        what_if.value
    }

    /// The running thread comes to this load.
    #[inline]
    pub fn comes_to(&mut self, site: Site, atomic: u32) {
        if let Some(what_if) = &mut self.what_if
            && what_if.state == State::Since(self.current, site, atomic)
        {
            what_if.state = State::After(self.current);
        }
    }

    /// The running thread has done this.
    #[inline]
    pub fn since_then(&mut self, op: &Op, site: Site) {
        if self.what_if.is_some() {
            self.note_since_then(op, site);
        }
    }

    fn note_since_then(&mut self, op: &Op, site: Site) {
        let (me, value, steps) = (self.current, self.last_value, self.trace.steps.len());
        let Some(what_if) = &mut self.what_if else { return };
        let silent = matches!(op.kind, Kind::Load | Kind::Yield | Kind::Choose);
        match what_if.state {
            State::Since(thread, ..) if thread != me || !silent => what_if.state = State::Matters,
            State::After(thread) if thread != me => what_if.state = State::Done,
            State::After(_) => {
                if op.kind != Kind::Yield {
                    what_if.did.push((site, op.kind, value));
                }
                if !silent || what_if.did.len() > LONGEST {
                    what_if.state = State::Done;
                }
            }
            _ => {}
        }
        let late = steps as u32 > what_if.step.saturating_add(2 * LONGEST as u32);
        if late || matches!(what_if.state, State::Matters | State::Done) {
            self.way = Way::Aborted;
        }
    }
}
