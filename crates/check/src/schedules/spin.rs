//! Does a thread go round in circles? A finite-state thread that comes back to the same place, registers included, and
//! has changed nothing since, will do the same again and again until somebody changes what it reads.

use seqcst_model::Loc;

/// The steps of a thread since it last changed something.
///
/// What is concluded depends on nothing but what the thread has seen itself: or executions that differ only in the order of
/// independent steps would not be the same.
#[derive(Debug, Default)]
pub struct SpinHistory {
    steps: Vec<Visit>,
    /// What it saw in its first time round, if it has to go round twice.
    first_round: Vec<(Loc, u32)>,
    /// What it waits for, while it goes round in circles.
    pub watched: Vec<Loc>,
    /// It could have chosen another way out of the circle.
    pub chose: bool,
}

#[derive(Clone, Copy, Debug)]
struct Visit {
    place: u32,
    loc: Loc,
    /// How often the location had changed.
    version: u32,
    chose: bool,
    /// It wrote what was there already.
    wrote: bool,
}

impl SpinHistory {
    pub fn clear(&mut self) {
        self.steps.clear();
        self.first_round.clear();
        self.watched.clear();
        self.chose = false;
    }

    /// The thread has made a step that changes nothing.
    pub fn note(&mut self, place: u32, loc: Loc, version: u32, chose: bool, wrote: bool) {
        if self.first_round.iter().any(|&(seen, before)| seen == loc && before != version) {
            self.first_round.clear();
        }
        self.steps.push(Visit { place, loc, version, chose, wrote });
    }

    /// The thread comes to a place: does it go round in circles from there? Twice, if what it writes on the way tells
    /// others what it knows: after that it has nothing new to tell.
    pub fn closes(&mut self, place: u32, version: impl Fn(Loc) -> u32) -> SpinState {
        let Some(start) = self.steps.iter().rposition(|visit| visit.place == place) else {
            return SpinState::Open;
        };
        let circle = &self.steps[start..];
        let last_round = !self.first_round.is_empty() || !circle.iter().any(|visit| visit.wrote);
        if let Some(&Visit { loc, .. }) = circle.iter().find(|visit| version(visit.loc) != visit.version) {
            self.clear();
            return if last_round { SpinState::Changed(loc) } else { SpinState::Open };
        }
        if !last_round {
            self.first_round = circle.iter().map(|visit| (visit.loc, visit.version)).collect();
            self.steps.clear();
            return SpinState::Open;
        }
        self.chose = circle.iter().any(|visit| visit.chose);
        for visit in circle {
            if !self.watched.contains(&visit.loc) {
                self.watched.push(visit.loc);
            }
        }
        SpinState::Closed
    }
}

/// Does a thread go round in circles?
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SpinState {
    /// Not that we know.
    Open,
    /// It would, but this location has changed since it was read.
    Changed(Loc),
    /// It does.
    Closed,
}
