//! Barriers.

use crate::rt::world::{names, op};
use crate::rt::{self, here, note, site, step, tag::Tag, wait::Wait};
use seqcst_explore::{AccessType, Kind};
use std::panic::Location;

/// Like [`std::sync::Barrier`].
#[derive(Debug)]
pub struct Barrier {
    tag: Tag,
    count: usize,
    real: std::sync::Barrier,
}

/// Like [`std::sync::BarrierWaitResult`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BarrierWaitResult(bool);

impl BarrierWaitResult {
    /// True for one of those who passed together.
    #[must_use]
    pub fn is_leader(&self) -> bool {
        self.0
    }
}

impl Barrier {
    /// For so many threads.
    #[must_use]
    pub const fn new(count: usize) -> Barrier {
        Barrier { tag: Tag::new(), count, real: std::sync::Barrier::new(count) }
    }

    /// Waits until all have come.
    #[track_caller]
    pub fn wait(&self) -> BarrierWaitResult {
        if !rt::inside() {
            return BarrierWaitResult(self.real.wait().is_leader());
        }
        let site = site::number(Location::caller());
        let world = here();
        let id = world.barriers.find(&self.tag, world.stamp, |_| ());
        let arrive = op(Kind::Arrive, AccessType::Write, names::BARRIER, id);
        let round = step(site, arrive, Wait::Nothing, |world| {
            note(world, || format!("arrive at b{id}"));
            let views = &mut world.tasks[world.current as usize].views;
            let barrier = world.barriers.get(id);
            views.release(&mut barrier.knows);
            barrier.arrived += 1;
            let round = barrier.round;
            if barrier.arrived >= self.count {
                barrier.arrived = 0;
                barrier.round += 1;
                views.acquire(&barrier.knows);
                barrier.passing.clone_from(&barrier.knows);
                return (arrive, None);
            }
            (arrive, Some(round))
        });
        let Some(round) = round else { return BarrierWaitResult(true) };
        let pass = op(Kind::Pass, AccessType::Read, names::BARRIER, id);
        step(site, pass, Wait::Passed(id, round), |world| {
            note(world, || format!("pass b{id}"));
            let barrier = world.barriers.get(id);
            world.tasks[world.current as usize].views.acquire(&barrier.passing);
            (pass, ())
        });
        BarrierWaitResult(false)
    }
}
