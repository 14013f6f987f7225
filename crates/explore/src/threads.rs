//! Sets of threads: one word for most programs.

use crate::ThreadId;

/// A set of threads.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Threads {
    first: u64,
    /// Those beyond 63, 64 at a time.
    more: Vec<u64>,
}

impl Threads {
    pub fn clear(&mut self) {
        self.first = 0;
        self.more.clear();
    }

    pub fn copy(&mut self, from: &Threads) {
        self.first = from.first;
        self.more.clone_from(&from.more);
    }

    pub fn has(&self, thread: ThreadId) -> bool {
        let word = match thread / 64 {
            0 => self.first,
            n => self.more.get(n as usize - 1).copied().unwrap_or(0),
        };
        word >> (thread % 64) & 1 != 0
    }

    fn word(&mut self, thread: ThreadId) -> &mut u64 {
        match thread / 64 {
            0 => &mut self.first,
            n => {
                let n = n as usize;
                if self.more.len() < n {
                    self.more.resize(n, 0);
                }
                &mut self.more[n - 1]
            }
        }
    }

    pub fn insert(&mut self, thread: ThreadId) {
        *self.word(thread) |= 1 << (thread % 64);
    }

    pub fn remove(&mut self, thread: ThreadId) {
        *self.word(thread) &= !(1 << (thread % 64));
    }

    pub fn is_empty(&self) -> bool {
        self.first == 0 && self.more.iter().all(|&word| word == 0)
    }

    /// Adds all of them.
    pub fn add(&mut self, others: &Threads) {
        self.first |= others.first;
        if self.more.len() < others.more.len() {
            self.more.resize(others.more.len(), 0);
        }
        self.more.iter_mut().zip(&others.more).for_each(|(mine, theirs)| *mine |= theirs);
    }

    /// Takes all of them out.
    pub fn take(&mut self, others: &Threads) {
        self.first &= !others.first;
        self.more.iter_mut().zip(&others.more).for_each(|(mine, theirs)| *mine &= !theirs);
    }

    /// Keeps none but these.
    pub fn keep(&mut self, others: &Threads) {
        self.first &= others.first;
        self.more.truncate(others.more.len());
        self.more.iter_mut().zip(&others.more).for_each(|(mine, theirs)| *mine &= theirs);
    }

    /// Is one of these among them?
    pub fn meets(&self, others: &Threads) -> bool {
        self.first & others.first != 0
            || self.more.iter().zip(&others.more).any(|(mine, theirs)| mine & theirs != 0)
    }

    /// Takes the first one out.
    pub fn pop(&mut self) -> Option<ThreadId> {
        let first = self.iter().next()?;
        self.remove(first);
        Some(first)
    }

    pub fn len(&self) -> u32 {
        self.first.count_ones() + self.more.iter().map(|word| word.count_ones()).sum::<u32>()
    }

    pub fn iter(&self) -> impl Iterator<Item = ThreadId> + '_ {
        let words = std::iter::once(self.first).chain(self.more.iter().copied());
        (0..).step_by(64).zip(words).flat_map(|(base, mut word)| {
            std::iter::from_fn(move || {
                let bit = (word != 0).then(|| word.trailing_zeros())?;
                word &= word - 1;
                Some(base + bit)
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_and_large_numbers() {
        let mut set = Threads::default();
        for thread in [3, 0, 63, 64, 1000] {
            set.insert(thread);
            assert!(set.has(thread) && !set.has(thread + 1) || thread == 63);
        }
        assert_eq!(set.iter().collect::<Vec<_>>(), [0, 3, 63, 64, 1000]);
        assert_eq!((set.len(), set.pop(), set.len()), (5, Some(0), 4));
        set.remove(1000);
        set.remove(5000);
        assert_eq!(set.iter().collect::<Vec<_>>(), [3, 63, 64]);
    }

    #[test]
    fn several_sets() {
        let of = |threads: &[ThreadId]| {
            let mut set = Threads::default();
            threads.iter().for_each(|&thread| set.insert(thread));
            set
        };
        let list = |set: &Threads| set.iter().collect::<Vec<_>>();
        let mut set = of(&[1, 70]);
        assert!(set.meets(&of(&[70, 3])) && !set.meets(&of(&[2, 71])) && !set.meets(&of(&[])));
        set.add(&of(&[2, 200]));
        assert_eq!(list(&set), [1, 2, 70, 200]);
        set.take(&of(&[2, 70, 300]));
        assert_eq!(list(&set), [1, 200]);
        set.keep(&of(&[1, 2]));
        assert_eq!(list(&set), [1]);
    }
}
