//! What the monitor with location clocks keeps (\[RSAN25], Fig. 4).

/// `L : Loc → Time`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Clock(pub Vec<usize>);

impl Clock {
    /// `L := L ⊔ L'`
    pub fn join(&mut self, other: &Clock) {
        self.0.iter_mut().zip(&other.0).for_each(|(mine, &theirs)| *mine = theirs.max(*mine));
    }

    /// `L := L ⊔ x@t`
    pub fn learn(&mut self, x: usize, t: usize) {
        self.0[x] = t.max(self.0[x]);
    }
}

/// What a thread knows.
#[derive(Clone, Debug)]
pub struct Views {
    /// `T_SC`, by `hbSC`.
    pub sc: Clock,
    /// `T_c`, by `hb`: its next access comes after this.
    pub cur: Clock,
    /// `T_r`: what it knew at its last release fence.
    pub rel: Clock,
    /// `T_a`: what it will know at its next acquire fence.
    pub acq: Clock,
}

impl Views {
    pub fn know(&mut self, x: usize, t: usize) {
        self.cur.learn(x, t);
        self.acq.learn(x, t);
    }
}

/// What is known of a location.
#[derive(Clone, Debug)]
pub struct Place {
    /// All writes in modification order, the initial one first: a write's timestamp is its number.
    pub writes: Vec<Write>,
    /// `W_SC`: what comes before the last write, by `hbSC`.
    pub write_sc: Clock,
    /// `M_SC`: what comes before some access, by `hbSC`. The next write comes after all of them.
    pub access_sc: Clock,
    /// `W_HB`: what an acquiring reader of the last write learns.
    pub message: Clock,
}

#[derive(Clone, Copy, Debug)]
pub struct Write {
    pub value: u64,
    /// Made by a read-modify-write: nothing can come between it and the write before it.
    pub rmw: bool,
}

impl Place {
    pub fn last(&self) -> usize {
        self.writes.len() - 1
    }
}

/// An object other than an atomic that threads synchronise by, such as a mutex.
#[derive(Clone, Debug)]
pub struct Object {
    pub sc: Clock,
    pub hb: Clock,
}

/// The monitor: threads, locations and objects are numbered from 0.
#[derive(Clone, Debug)]
pub struct LocationClocks {
    pub(super) threads: Vec<Views>,
    /// The last one is the hidden location of SC fences.
    pub(super) places: Vec<Place>,
    pub(super) objects: Vec<Object>,
}

impl LocationClocks {
    /// One thread, these locations, this many objects.
    pub fn new(initial: &[u64], objects: usize) -> LocationClocks {
        let nothing = Clock(vec![0; initial.len() + 1]);
        let place = |&value: &u64| Place {
            writes: vec![Write { value, rmw: false }],
            write_sc: nothing.clone(),
            access_sc: nothing.clone(),
            message: nothing.clone(),
        };
        let places = initial.iter().chain([&0]).map(place).collect();
        let object = Object { sc: nothing.clone(), hb: nothing.clone() };
        let mut clocks = LocationClocks { threads: Vec::new(), places, objects: vec![object; objects] };
        clocks.appear();
        clocks
    }
}
