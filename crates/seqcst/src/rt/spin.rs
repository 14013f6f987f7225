//! Spin loops: a thread that does nothing but read the same again need not run until something of it has changed.
//!
//! Whether a thread that comes back to a load is in the same state as before can't be seen from here. Two things count:
//! the program says so (`hint::spin_loop` or `thread::yield_now` just before), or it has read the same value there several
//! times in a row. A loop that counts can be taken for one that waits; so spinning threads go on when nobody else can, and
//! how often that happened, and how often a loop was only guessed to wait, is told.

use super::site::Site;

#[derive(Clone, Copy, Debug)]
struct Read {
    site: Site,
    atomic: u32,
    version: u32,
}

/// What a thread has read since it last had an effect on others.
#[derive(Debug, Default)]
pub struct Spin {
    reads: Vec<Read>,
    /// So many reads there were at the last hint.
    hinted: usize,
    /// The loop begins at this read.
    from: usize,
    /// Where it has taken a lock last, and how often in a row, with no effect since but that.
    locked: (Site, u32),
    /// Nobody said that it is a loop which waits.
    pub guessed: bool,
}

/// Who has taken the same lock so often at the same place, and changed nothing under it, polls.
const POLLS: u32 = 3;

/// Longer loops aren't recognised.
const LONGEST: usize = 256;

impl Spin {
    /// A new thread, or it had an effect on others.
    #[inline]
    pub fn clear(&mut self) {
        self.section();
        self.locked = (0, 0);
    }

    /// It took a lock, or gave one back.
    #[inline]
    pub fn section(&mut self) {
        self.reads.clear();
        self.hinted = 0;
    }

    /// It changes something under a lock.
    pub fn changes(&mut self) {
        self.locked = (0, 0);
    }

    /// It is about to take a lock, here. True: it has done so again and again, and nothing else that others can see.
    pub fn polls(&mut self, site: Site) -> bool {
        let (last, times) = self.locked;
        self.locked = (site, if last == site { times + 1 } else { 1 });
        self.locked.1 > POLLS
    }

    /// Goes on although nothing has changed.
    pub fn forget(&mut self) {
        self.clear();
    }

    /// It said that it spins.
    pub fn hint(&mut self) {
        self.hinted = self.reads.len();
    }

    /// It has read this version of the location.
    #[inline]
    pub fn read(&mut self, site: Site, atomic: u32, version: u32) {
        if self.reads.len() >= LONGEST {
            self.clear();
        }
        self.reads.push(Read { site, atomic, version });
    }

    /// It comes to this load: is it the one at which a loop began, of which it has said that it waits there, or gone
    /// through it so often?
    #[inline]
    pub fn comes_back(&mut self, site: Site, atomic: u32, patience: u32) -> bool {
        if self.reads.is_empty() {
            return false;
        }
        self.look_back(site, atomic, patience)
    }

    fn look_back(&mut self, site: Site, atomic: u32, patience: u32) -> bool {
        let same = |read: &Read| read.site == site && read.atomic == atomic;
        let Some(last) = self.reads.iter().rposition(same) else { return false };
        let version = self.reads[last].version;
        let often = self.reads.iter().filter(|read| same(read) && read.version == version).count();
        self.from = last;
        // After a hint the loop begins again. Loads further on may follow upon something new.
        self.guessed = self.hinted != self.reads.len();
        !self.guessed || often >= patience as usize
    }

    /// Which versions of which locations it has read in its loop.
    pub fn reads(&self) -> impl Iterator<Item = (u32, u32)> {
        self.reads[self.from.min(self.reads.len())..].iter().map(|read| (read.atomic, read.version))
    }
}
