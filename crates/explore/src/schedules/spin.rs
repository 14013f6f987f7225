//! Does a thread go round in circles? A finite-state thread that comes back to the same place, registers included, and
//! has changed nothing since, will do the same again and again until somebody changes what it reads.

use seqcst_model::Loc;

/// The steps of a thread since it last changed something.
#[derive(Debug, Default)]
pub struct Trail {
    steps: Vec<Visit>,
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

impl Trail {
    pub fn clear(&mut self) {
        self.steps.clear();
        self.watched.clear();
        self.chose = false;
    }

    /// The thread has made a step that changes nothing.
    pub fn note(&mut self, place: u32, loc: Loc, version: u32, chose: bool, wrote: bool) {
        self.steps.push(Visit { place, loc, version, chose, wrote });
    }

    /// The thread comes to a place: does it go round in circles from there? Twice, if what it writes on the way tells
    /// others what it knows: after that it has nothing new to tell.
    pub fn closes(&mut self, place: u32, version: impl Fn(Loc) -> u32) -> bool {
        let mut visits = (0..self.steps.len()).rev().filter(|&at| self.steps[at].place == place);
        let Some(last) = visits.next() else { return false };
        let changed = |visit: &Visit| version(visit.loc) != visit.version;
        if self.steps[last..].iter().any(changed) {
            self.clear();
            return false;
        }
        let first = match self.steps[last..].iter().any(|visit| visit.wrote) {
            true => visits.next(),
            false => Some(last),
        };
        let Some(first) = first.filter(|&first| !self.steps[first..].iter().any(changed)) else {
            return false;
        };
        let circle = &self.steps[first..];
        self.chose = circle.iter().any(|visit| visit.chose);
        for visit in circle {
            if !self.watched.contains(&visit.loc) {
                self.watched.push(visit.loc);
            }
        }
        true
    }
}
