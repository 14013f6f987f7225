//! Is the last iteration of a loop independent of those before it?
//!
//! An iteration *fails* if it reaches the back edge. Failing iterations can be left out of an execution graph if
//!
//! * they only read, as far as others can tell. Without a read, happens-before can only shrink, so what RC20 allowed it
//!   still allows (\[RoboCop24] Lemma 5.4). The same goes for fences: the location behind SC fences is only there to order
//!   them, and one update less in its chain leaves the order of the others as it was;
//! * a read of plain memory among them happens in the last iteration as well, and up to there both do the same: then it can
//!   race only if that one can, which may wait for ever afterwards;
//! * nothing later depends on them through variables: what they change is not live at the head on any path by which the
//!   loop is left;
//! * nothing later depends on them through own nodes. A store to a node whose address only this invocation knows can be
//!   left out like a read, if on each path by which the loop is left that field is stored again before it is read and
//!   before the address gets out (or the address is never used again). Then every read of the field that remains has
//!   its source in what remains, modification order is that of the remaining stores, and nobody else has an access
//!   to that field that could be ordered differently;
//! * updates among them wrote the very value that they found (`while (exchange(&lock, 1))`). Let U be such an update,
//!   with source W. Whoever read from U reads the same value from W instead. W is immediately before U in modification
//!   order, so an update that read from U is now immediately after W, and only U read from W and updated it. Release
//!   sequences pass through updates (`rf⁺`), so W happened before whoever acquired from U already, if it is a release:
//!   happens-before and coherence order shrink to what remains, and RC20 still allows it. Clients see the same values. This
//!   is an induced subgraph up to repeated writes of the same value.

use super::facts::Known;
use super::live::Locals;
use super::outcome::Event;
use super::paths::{End, Path};
use seqcst_c11::code::{ClassId, Label, LocalId, Site};
use std::collections::BTreeSet;

/// The last iteration is independent of those before.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Independent {
    /// No iteration ever fails: the loop is none.
    NeverRepeats,
    /// All failing iterations can be left out.
    Yes,
    /// All but one read: the variable keeps what one of these operations of the last failing iteration read.
    Carrying(LocalId, BTreeSet<Label>),
}

/// Why it is not.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Dependent {
    /// It is never left.
    Endless,
    /// A failing iteration does something that others see.
    Visible(&'static str, Site),
    /// A loop inside that stays does.
    VisibleInside,
    /// A failing iteration changes a variable that is read later.
    Carried(LocalId),
    /// A failing iteration stores to a field of an own node that is not stored again.
    Field(ClassId),
}

/// Looks at all paths through one iteration.
pub fn check(paths: &[Path]) -> Result<Independent, Dependent> {
    let (failing, leaving): (Vec<&Path>, Vec<&Path>) = paths.iter().partition(|path| path.end == End::Back);
    if failing.is_empty() {
        return Ok(Independent::NeverRepeats);
    }
    if leaving.is_empty() {
        return Err(Dependent::Endless);
    }
    failing.iter().try_for_each(|path| invisible(&path.events))?;
    failing.iter().try_for_each(|path| no_races_of_its_own(&path.events, &leaving))?;
    fields(&failing, &leaving)?;
    variables(&failing, &leaving)
}

fn invisible(events: &[Event]) -> Result<(), Dependent> {
    for event in events {
        match event {
            Event::Write(why, site) => return Err(Dependent::Visible(why, *site)),
            Event::Inner(inside) => {
                let quiet = |e: &Event| {
                    matches!(
                        e,
                        Event::Read(_)
                            | Event::PlainRead(..)
                            | Event::Fence
                            | Event::OwnRead(..)
                            | Event::Allocated(_)
                    )
                };
                if !inside.iter().all(quiet) {
                    return Err(Dependent::VisibleInside);
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// Plain memory that a failing iteration reads is read in the last one, too, after the same events.
fn no_races_of_its_own(events: &[Event], leaving: &[&Path]) -> Result<(), Dependent> {
    let site = |event: &Event| match event {
        Event::PlainRead(_, site) => Some(*site),
        Event::Inner(inside) => inside.iter().find_map(|event| match event {
            Event::PlainRead(_, site) => Some(*site),
            _ => None,
        }),
        _ => None,
    };
    for (index, event) in events.iter().enumerate() {
        let Some(site) = site(event) else { continue };
        let way = &events[..=index];
        // Updates of a value by itself may be the ones that the last iteration waits for.
        let is_clear = !way.contains(&Event::SameValue);
        if !is_clear || !leaving.iter().any(|path| path.events.starts_with(way)) {
            return Err(Dependent::Visible("it reads plain memory", site));
        }
    }
    Ok(())
}

/// Fields of own nodes that failing iterations store are stored again before anyone could read them.
fn fields(failing: &[&Path], leaving: &[&Path]) -> Result<(), Dependent> {
    let mut stored = BTreeSet::new();
    for path in failing {
        let mut new = BTreeSet::new();
        for event in &path.events {
            match event {
                Event::Allocated(node) => new.extend([*node]),
                // A node of this iteration is never heard of again, unless a variable carries its address.
                Event::OwnStore(node, class) if !new.contains(node) => stored.extend([(*node, *class)]),
                _ => {}
            }
        }
    }
    for path in leaving {
        for (node, class) in &stored {
            if !stored_again(path, *node, *class) {
                return Err(Dependent::Field(*class));
            }
        }
    }
    Ok(())
}

fn stored_again(path: &Path, node: Label, class: ClassId) -> bool {
    for event in &path.events {
        match event {
            Event::OwnStore(n, c) if (*n, *c) == (node, class) => return true,
            Event::OwnRead(n, c) if (*n, *c) == (node, class) => return false,
            Event::Escaped(n) | Event::Allocated(n) if *n == node => return false,
            Event::Inner(inside) => {
                let touches =
                    |e: &Event| matches!(e, Event::OwnStore(n, _) | Event::OwnRead(n, _) if *n == node);
                if inside.iter().any(touches) {
                    return false;
                }
            }
            _ => {}
        }
    }
    let End::Left(live) = &path.end else { return false };
    !live.iter().any(|local| path.facts.of(*local) == Known::Node(node))
}

fn variables(failing: &[&Path], leaving: &[&Path]) -> Result<Independent, Dependent> {
    let mut live = Locals::new();
    for path in leaving {
        live.extend(&path.exposed);
        if let End::Left(after) = &path.end {
            live.extend(after.difference(&path.assigned));
        }
    }
    let mut carrying: Option<(LocalId, BTreeSet<Label>)> = None;
    for path in failing {
        for local in live.iter().filter(|local| !path.keeps(**local)) {
            // The last read, of a compare-and-swap that failed perhaps, takes the place of the read before the loop.
            let Known::Read(label) = path.facts.of(*local) else { return Err(Dependent::Carried(*local)) };
            let reads = path.events.iter().filter(|event| **event == Event::Read(label)).count();
            let (only, labels) = carrying.get_or_insert_with(|| (*local, BTreeSet::new()));
            if reads != 1 || only != local {
                return Err(Dependent::Carried(*local));
            }
            labels.insert(label);
        }
    }
    Ok(carrying.map_or(Independent::Yes, |(local, labels)| Independent::Carrying(local, labels)))
}
