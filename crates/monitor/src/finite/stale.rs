//! Which stale writes a holder of a view may still read: the sets `S(x)` and `U(x)` of
//! `docs/theory.md`, "Finite-state monitors".
//!
//! A view holds, for every watched location `x`, the values of the writes to `x` other than the last one that its
//! holder may still read (`S(x)`), and of those the ones that no read-modify-write has read (`U(x)`): a new write may
//! still be placed right after them. Joining views is intersection.
//!
//! Only what some check can tell apart is kept (\[Rocker19] §5.1, taken further):
//! * nothing compares values: one bit, "not empty";
//! * comparisons with constants: one bit for each of them and one for all other values;
//! * comparisons with computed values: one bit for each value that turns up, numbered as they do;
//! * only a strong CAS compares with computed values: its question is "is there a value other than `e`?". The sets of
//!   all views for one location are nested, and the smallest one that is not empty holds the value of the last but one
//!   write, `prev`. So two bits per view, "not empty" and "two values or more", and `prev` are exact;
//! * no read-modify-write on `x`: `U(x) = S(x)`; no plain store on `x`: `U(x)` is empty.

use super::{Summary, Use};
use seqcst_model::{Loc, Mode, Value};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU16, Ordering::Relaxed};

/// Bits `start..start + len` of a view.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Bits {
    pub start: usize,
    pub len: usize,
}

impl Bits {
    fn pieces(self) -> impl Iterator<Item = (usize, u64)> {
        let end = self.start + self.len;
        (self.start / 64..end.div_ceil(64)).map(move |word| {
            let low = self.start.max(word * 64) - word * 64;
            let high = end.min(word * 64 + 64) - word * 64;
            (word, (u64::MAX >> (64 - (high - low))) << low)
        })
    }

    pub fn any(self, view: &[u64]) -> bool {
        self.len > 0 && self.pieces().any(|(word, mask)| view[word] & mask != 0)
    }

    fn any_but(self, view: &[u64], bit: usize) -> bool {
        let except = self.start + bit;
        self.len > 0
            && self.pieces().any(|(word, mask)| {
                let mask = if except / 64 == word { mask & !(1 << (except % 64)) } else { mask };
                view[word] & mask != 0
            })
    }

    pub fn clear(self, view: &mut [u64]) {
        if self.len > 0 {
            self.pieces().for_each(|(word, mask)| view[word] &= !mask);
        }
    }

    pub fn get(self, view: &[u64], bit: usize) -> bool {
        let at = self.start + bit;
        view[at / 64] >> (at % 64) & 1 == 1
    }

    pub fn put(self, view: &mut [u64], bit: usize, value: bool) {
        let at = self.start + bit;
        view[at / 64] = view[at / 64] & !(1 << (at % 64)) | u64::from(value) << (at % 64);
    }

    pub fn set(self, view: &mut [u64], bit: usize) {
        let at = self.start + bit;
        view[at / 64] |= 1 << (at % 64);
    }
}

/// Which values of a location share a bit.
#[derive(Debug)]
pub struct Classes {
    /// For every value, 1 + its bit; 0: none yet.
    bit: Vec<AtomicU16>,
    /// Bits handed out so far, at most `capacity`.
    used: Mutex<u16>,
    capacity: u16,
}

impl Classes {
    /// The critical values, and all others in one class.
    fn closed(modulus: Value, critical: &[Value]) -> Classes {
        let other = critical.len() as u16 + 1;
        let bit = (0..modulus)
            .map(|v| critical.iter().position(|&c| c == v).map_or(other, |at| at as u16 + 1))
            .map(AtomicU16::new)
            .collect();
        Classes { bit, used: Mutex::new(other), capacity: other }
    }

    /// A class for each value, as they turn up.
    fn open(modulus: Value, capacity: usize) -> Classes {
        let capacity = capacity.min(modulus as usize) as u16;
        Classes { bit: (0..modulus).map(|_| AtomicU16::new(0)).collect(), used: Mutex::new(0), capacity }
    }

    /// The value's bit, if it has one.
    fn find(&self, value: Value) -> Option<usize> {
        usize::from(self.bit[value as usize].load(Relaxed)).checked_sub(1)
    }

    /// The value's bit, a new one if need be.
    fn assign(&self, value: Value, overflow: &AtomicBool) -> usize {
        if let Some(bit) = self.find(value) {
            return bit;
        }
        let mut used = self.used.lock().unwrap_or_else(|e| e.into_inner());
        if let Some(bit) = self.find(value) {
            return bit;
        }
        if *used == self.capacity {
            overflow.store(true, Relaxed);
            return 0;
        }
        *used += 1;
        self.bit[value as usize].store(*used, Relaxed);
        usize::from(*used) - 1
    }
}

/// How one of the sets is kept.
#[derive(Debug)]
enum Kept {
    /// Nobody asks, or it is always empty.
    Nothing,
    /// Is it empty?
    Any(Bits),
    /// Is it empty, has it a value other than a given one? (`prev` completes it.)
    Few(Bits),
    /// Is this value in it?
    Members(Bits, Classes),
}

impl Kept {
    fn bits(&self) -> Bits {
        match self {
            Kept::Nothing => Bits::default(),
            Kept::Any(bits) | Kept::Few(bits) | Kept::Members(bits, _) => *bits,
        }
    }

    fn add(&self, view: &mut [u64], value: Value, prev: Value, overflow: &AtomicBool) {
        match self {
            Kept::Nothing => {}
            Kept::Any(bits) => bits.set(view, 0),
            Kept::Few(bits) if !bits.get(view, 0) => {
                // Views may have been normalised to "two or more" where that could not matter.
                bits.clear(view);
                bits.set(view, 0);
            }
            Kept::Few(bits) => {
                if value != prev {
                    bits.set(view, 1);
                }
            }
            Kept::Members(bits, classes) => bits.set(view, classes.assign(value, overflow)),
        }
    }

    fn contains(&self, view: &[u64], value: Value) -> bool {
        match self {
            Kept::Members(bits, classes) => classes.find(value).is_some_and(|bit| bits.get(view, bit)),
            other => other.bits().any(view),
        }
    }

    fn has_other_than(&self, view: &[u64], value: Value, prev: Value) -> bool {
        match self {
            Kept::Few(bits) => bits.get(view, 1) || bits.get(view, 0) && value != prev,
            Kept::Members(bits, classes) => match classes.find(value) {
                Some(bit) => bits.any_but(view, bit),
                None => bits.any(view),
            },
            other => other.bits().any(view),
        }
    }
}

/// What is kept of one location.
#[derive(Debug)]
pub struct Tracked {
    s: Kept,
    u: Kept,
    /// `U = S` because nothing updates the location.
    no_updates: bool,
    /// All bits of the location.
    pub all: Bits,
    /// Whether the location's block needs the value of its last but one write.
    pub needs_prev: bool,
}

impl Tracked {
    /// Decides what to keep, from bit `start` of a view on; `capacity` bounds open sets.
    pub fn new(summary: &Summary, x: Loc, start: usize, capacity: usize, locked_updates: bool) -> Tracked {
        let uses = || summary.of(x).map(|usage| &usage.what);
        // A compare-and-swap whose failure is SC, though its success is not, may replace what it can't read.
        let fails_sc = summary.of(x).any(|u| u.read_mode == Mode::SeqCst && u.mode != Mode::SeqCst);
        let no_updates = !uses().any(Use::updates);
        let no_stores = !uses().any(|what| *what == Use::Store);
        let mut s = Question::default();
        let mut u = Question::default();
        for what in uses() {
            match what {
                Use::Load => s.any = true,
                Use::Wait(values) => values.iter().for_each(|v| s.contains(*v)),
                // Locked instructions are never stale.
                _ if locked_updates => {}
                Use::WeakCas(e) => {
                    s.any = true;
                    if fails_sc {
                        u.contains(*e);
                    }
                }
                Use::Store if no_updates => s.any = true,
                Use::Store | Use::Update => u.any = true,
                Use::Cas(e) => {
                    s.other_than(*e);
                    u.contains(*e);
                }
                Use::BlockingCas(e) => u.contains(*e),
            }
        }
        let s = s.kept(start, summary.modulus, capacity);
        let u = if no_updates || no_stores || locked_updates {
            Kept::Nothing
        } else {
            u.kept(start + s.bits().len, summary.modulus, capacity)
        };
        let all = Bits { start, len: s.bits().len + u.bits().len };
        let needs_prev = matches!(s, Kept::Few(_));
        Tracked { s, u, no_updates, all, needs_prev }
    }

    /// Nothing: accesses to the location are not checked.
    pub fn nothing(start: usize) -> Tracked {
        Tracked {
            s: Kept::Nothing,
            u: Kept::Nothing,
            no_updates: true,
            all: Bits { start, len: 0 },
            needs_prev: false,
        }
    }

    /// The last write to the location, of `value`, is no longer the last one; the view's holder may still read it.
    pub fn add(&self, view: &mut [u64], value: Value, prev: Value, by_update: bool, overflow: &AtomicBool) {
        self.s.add(view, value, prev, overflow);
        if !by_update {
            self.u.add(view, value, prev, overflow);
        }
    }

    /// Some stale write may be read.
    pub fn any(&self, view: &[u64]) -> bool {
        self.s.bits().any(view)
    }

    /// A stale write of this value may be read.
    pub fn readable(&self, view: &[u64], value: Value) -> bool {
        self.s.contains(view, value)
    }

    /// A stale write of another value may be read.
    pub fn readable_other_than(&self, view: &[u64], value: Value, prev: Value) -> bool {
        self.s.has_other_than(view, value, prev)
    }

    /// A write may be placed right after some stale write.
    pub fn overwritable(&self, view: &[u64]) -> bool {
        if self.no_updates { self.any(view) } else { self.u.bits().any(view) }
    }

    /// An update may be placed right after some stale write of this value.
    pub fn updatable(&self, view: &[u64], value: Value) -> bool {
        if self.no_updates { self.readable(view, value) } else { self.u.contains(view, value) }
    }

    /// Some view's `S` is a single value, so that `prev` matters.
    pub fn is_single(&self, view: &[u64]) -> bool {
        matches!(&self.s, Kept::Few(bits) if bits.get(view, 0) && !bits.get(view, 1))
    }
}

/// What the checks on one of the sets ask.
#[derive(Default)]
struct Question {
    any: bool,
    critical: Vec<Value>,
    /// Membership of a computed value.
    open: bool,
    /// A value other than a computed one.
    few: bool,
}

impl Question {
    fn contains(&mut self, value: Option<Value>) {
        match value {
            Some(v) if !self.critical.contains(&v) => self.critical.push(v),
            Some(_) => {}
            None => self.open = true,
        }
    }

    fn other_than(&mut self, value: Option<Value>) {
        match value {
            Some(_) => self.contains(value),
            None => self.few = true,
        }
    }

    fn kept(self, start: usize, modulus: Value, capacity: usize) -> Kept {
        let bits = |len| Bits { start, len };
        if self.open || self.few && !self.critical.is_empty() {
            let classes = Classes::open(modulus, capacity);
            Kept::Members(bits(usize::from(classes.capacity)), classes)
        } else if self.few {
            Kept::Few(bits(2))
        } else if !self.critical.is_empty() {
            let classes = Classes::closed(modulus, &self.critical);
            Kept::Members(bits(usize::from(classes.capacity)), classes)
        } else if self.any {
            Kept::Any(bits(1))
        } else {
            Kept::Nothing
        }
    }
}
