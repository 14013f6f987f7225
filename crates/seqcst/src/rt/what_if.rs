//! What if a load that could be stale were? If the thread then comes back to the same load, having done nothing that
//! others can see, it only waits longer: that is no violation (`DESIGN.md`, "Benign waits at run time"). Here it can be
//! tried: the execution is played again up to the load, which is given the old value.

use super::note::Stale;
use super::site::Site;
use super::world::{Way, World};
use seqcst_monitor::clocks::Look;
use seqcst_schedule::{Kind, Op, ThreadId};

/// A load that is given an old value.
#[derive(Clone, Copy, Debug)]
pub struct WhatIf {
    /// Which step.
    pub step: u32,
    pub value: u64,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    NotYet,
    /// The load has been given the value.
    Since(ThreadId, Site, u32),
    /// The thread came back to it.
    CameBack,
    /// It did something else.
    Matters,
}

impl WhatIf {
    /// Before the execution.
    pub fn new(step: u32, value: u64) -> WhatIf {
        WhatIf { step, value, state: State::NotYet }
    }

    /// After it: the thread only waited longer.
    pub fn only_waits(&self) -> bool {
        self.state == State::CameBack
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
        what_if.state = State::Since(self.current, site, atomic);
        Some(what_if.value)
    }

    /// The running thread comes to this load.
    #[inline]
    pub fn comes_to(&mut self, site: Site, atomic: u32) {
        if let Some(what_if) = &mut self.what_if
            && what_if.state == State::Since(self.current, site, atomic)
        {
            what_if.state = State::CameBack;
            self.way = Way::Aborted;
        }
    }

    /// The running thread has done this.
    #[inline]
    pub fn since_then(&mut self, op: &Op) {
        if let Some(what_if) = &mut self.what_if
            && let State::Since(thread, ..) = what_if.state
            && (thread != self.current || !matches!(op.kind, Kind::Load | Kind::Yield | Kind::Choose))
        {
            what_if.state = State::Matters;
            self.way = Way::Aborted;
        }
    }
}
