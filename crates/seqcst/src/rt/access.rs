//! Atomic accesses and fences, plain accesses to cells.

use super::note::Notes;
use super::site::Site;
use super::tag::Tag;
use super::wait::Wait;
use super::watch::{Access, Done};
use super::world::names;
use super::{here, note, step};
use crate::sync::atomic::ordering_name;
use seqcst_explore::{AccessType, FENCES, Kind, Op};
use seqcst_model::Mode;
use seqcst_monitor::clocks::Look;

/// What an access can do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    Load,
    Store,
    Rmw,
}

/// An atomic access: `act` is given the value and tells the new one, if there is one. Returns the old one, and
/// whether there is a new one.
#[inline]
pub fn atomic(
    tag: &Tag,
    start: impl FnOnce() -> u64,
    shape: Shape,
    access: Access,
    act: impl FnOnce(u64) -> Option<u64>,
) -> (u64, bool) {
    let site = access.site;
    let weak = access.rmw && access.look == Look::Load;
    let world = here();
    let id = world.atomics.find(tag, world.stamp, |place| place.start(start()));
    let object = names::ATOMIC + u64::from(id);
    let ordered = (access.mode == Mode::SeqCst || access.failure == Mode::SeqCst) && world.watch.orders_sc();
    let with_fence = |op: Op| if ordered { op.and(AccessType::Write, FENCES) } else { op };
    let op = with_fence(match shape {
        Shape::Load => Op::new(Kind::Load, AccessType::Read, object),
        Shape::Store => Op::new(Kind::Store, AccessType::Write, object),
        Shape::Rmw => Op::new(Kind::Rmw, AccessType::Write, object),
    });
    world.comes_to(site, id);
    let patience = world.patience;
    let spins = shape != Shape::Store && world.me().spin.comes_back(site, id, patience);
    let wait = if spins { Wait::Spin } else { Wait::Nothing };
    step(site, op, wait, |world| {
        world.watch_before(id, &access);
        let old_value = world.old_value(site, id);
        let old = old_value.unwrap_or(world.atomics.get(id).value);
        let mut new = act(old).filter(|_| old_value.is_none());
        if weak && new.is_some() && world.fails_anyway() {
            new = None;
        }
        let place = world.atomics.get(id);
        let changed = new.is_some_and(|new| new != old);
        place.value = new.unwrap_or(place.value);
        place.version += u32::from(changed);
        let version = place.version;
        world.last_value = new.unwrap_or(old);
        let task = world.me();
        task.remember(old);
        let spin = &mut task.spin;
        if changed || shape == Shape::Store {
            spin.clear();
        } else {
            spin.read(site, id, version);
        }
        let (done, op) = match (shape, new) {
            (_, None) => (Done::Read, with_fence(Op::new(Kind::Load, AccessType::Read, object))),
            (Shape::Store, Some(new)) => (Done::Stored(new), op),
            (_, Some(new)) => (Done::Updated(new), op),
        };
        world.watch_after(id, &access, done, old);
        if world.notes.wanted {
            let text = words(&mut world.notes, &access, id, old, done);
            note(world, || text);
        }
        (op, (old, new.is_some()))
    })
}

fn words(notes: &mut Notes, access: &Access, id: u32, old: u64, done: Done) -> String {
    let name = access.name;
    let old = notes.value(old);
    let (mode, failure) = (ordering_name(access.mode), ordering_name(access.failure));
    match done {
        Done::Read if access.rmw => format!("a{id}.{name}({failure}) failed, found {old}"),
        Done::Read => format!("a{id}.{name}({failure}) = {old}"),
        Done::Stored(new) => {
            let new = notes.value(new);
            format!("a{id}.{name}({new}, {mode})")
        }
        Done::Updated(new) => {
            let new = notes.value(new);
            format!("a{id}.{name}({mode}): {old} → {new}")
        }
    }
}

/// A fence.
pub fn fence(mode: Mode, site: Site) {
    let ordered = mode == Mode::SeqCst && here().watch.orders_sc();
    let op = if ordered { Op::new(Kind::Fence, AccessType::Write, FENCES) } else { Op::local(Kind::Fence) };
    let act = |world: &mut super::world::World| {
        world.watch_fence(mode);
        note(world, || format!("fence({})", ordering_name(mode)));
        (op, ())
    };
    step(site, op, Wait::Nothing, act);
}

/// The program says that it spins.
pub fn hint() {
    here().me().spin.hint();
}

/// The running thread, if it is one of a model, changes something under a lock.
pub fn changes() {
    if let Some(world) = super::world() {
        world.me().spin.changes();
    }
}

/// A plain access to a cell.
#[inline]
pub fn cell(tag: &Tag, write: bool, site: Site) {
    let world = here();
    if write {
        world.me().spin.changes();
    }
    let id = world.cells.find(tag, world.stamp, |_| ());
    world.watch_cell(id, write, site);
}

/// A new cell: its first write.
pub fn new_cell(tag: &Tag, site: Site) {
    let world = here();
    let id = world.cells.add(tag, world.stamp);
    world.watch_cell(id, true, site);
}
