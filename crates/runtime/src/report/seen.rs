//! Which pairs of sites were reported before: asked at every violation, so without locks and without symbols.
//!
//! A pair that is known costs a look-up and one addition. Each pair remembers the report it belongs to, because several
//! pairs of sites can be the same pair of source lines.

use super::Kind;
use crate::context::Site;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

const PLACES: usize = 1 << 13;
/// When more than this many steps are needed, the table counts as full.
const STEPS: usize = 64;

/// A pair of sites.
pub struct Pair {
    /// Kind and sites; 0 is free.
    key: AtomicU64,
    count: AtomicU64,
    /// The report's number plus one.
    report: AtomicU32,
}

static PAIRS: [Pair; PLACES] =
    [const { Pair { key: AtomicU64::new(0), count: AtomicU64::new(0), report: AtomicU32::new(0) } }; PLACES];

/// What is known of a pair.
pub enum Seen {
    /// Nothing: this is the first time.
    Never(&'static Pair),
    /// It was counted.
    Before,
    /// There is no room to remember it.
    NoRoom,
}

/// Counts an occurrence.
#[inline]
pub fn count(kind: Kind, a: Site, b: Site) -> Seen {
    let key = 1 << 63 | kind.number() << 48 | u64::from(a.0) << 24 | u64::from(b.0);
    let start = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize;
    for step in 0..STEPS {
        let pair = &PAIRS[(start + step) % PLACES];
        let mut seen = pair.key.load(Ordering::Acquire);
        if seen == 0 {
            seen = match pair.key.compare_exchange(0, key, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => {
                    pair.count.fetch_add(1, Ordering::Relaxed);
                    return Seen::Never(pair);
                }
                Err(other) => other,
            };
        }
        if seen == key {
            pair.count.fetch_add(1, Ordering::Relaxed);
            return Seen::Before;
        }
    }
    Seen::NoRoom
}

impl Pair {
    /// The pair belongs to this report.
    pub fn belongs_to(&self, report: usize) {
        self.report.store(report as u32 + 1, Ordering::Relaxed);
    }
}

/// Occurrences and their reports.
pub fn counts() -> impl Iterator<Item = (usize, u64)> {
    PAIRS.iter().filter_map(|pair| {
        let report = pair.report.load(Ordering::Relaxed).checked_sub(1)?;
        Some((report as usize, pair.count.load(Ordering::Relaxed)))
    })
}

/// Forgets everything: for the child of a fork.
pub fn clear() {
    for pair in &PAIRS {
        pair.count.store(0, Ordering::Relaxed);
        pair.report.store(0, Ordering::Relaxed);
        pair.key.store(0, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_counted() {
        let (a, b) = (Site(0x1f_fff0), Site(0x1f_fff1));
        let Seen::Never(pair) = count(Kind::Stale, a, b) else { panic!("seen before") };
        pair.belongs_to(1 << 20);
        for _ in 0..5 {
            assert!(matches!(count(Kind::Stale, a, b), Seen::Before));
        }
        assert!(matches!(count(Kind::Stale, b, a), Seen::Never(_)));
        assert!(matches!(count(Kind::Race, a, b), Seen::Never(_)));
        assert_eq!(counts().find(|&(report, _)| report == 1 << 20), Some((1 << 20, 6)));
    }
}
