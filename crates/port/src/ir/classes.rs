//! Classes of addresses: which accesses may touch the same memory, and which always do.
//!
//! What two pointers with the same or different roots can do to each other, row by row:
//!
//! * two globals, or two pieces of memory with known origins: the same one, and overlapping bytes of it;
//! * two addresses that are numbers: overlapping bytes; such an address and other memory may be anything to each other;
//! * a pointer from elsewhere and a global: only if the global's address goes anywhere;
//! * what may touch anything (a call) and whatever else: always;
//! * two pointers from elsewhere: anything, unless both are multiples of something and their distances differ by less, or the
//!   source says that both point at structures of the same type (a variable of type `struct s *` holds the address of an `s`)
//!   and they go to different fields.
//!
//! Memory that never leaves its thread has no class: accesses to it don't count. Those that order others (a locked
//! instruction, a release) have one without an address, [`Class::private`], that no other thread meets.

use super::code::{FunctionId, Object};
use super::module::{Offset, gcd};
use crate::program::{Aliases, Base, Location};
use rustc_hash::FxHashMap;

/// Where an address comes from, seen from all threads.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Origin {
    /// A global.
    Global(Object),
    /// Memory of a thread that others can get at: the thread's function, the value that is its address.
    Own(u32, u32),
    /// Memory of who started the thread: the function, the value that is its address there.
    Passed(FunctionId, u32),
    /// A number: the distance is the address.
    Fixed,
    /// A value from elsewhere: the thread's function, the value.
    Value(u32, u32),
    /// Anywhere.
    Unknown,
}

/// What is known of an address besides its origin.
#[derive(Clone, PartialEq, Eq, Hash, Default, Debug)]
pub struct Hints {
    /// It is `.1` plus a multiple of `.0` (0: nothing is known).
    pub aligned: (u64, u64),
    /// Structures that it is in: the type's name (and behind a zero what else tells it apart) and size, and the distance
    /// from the beginning of the structure.
    pub inside: Vec<(String, u64, Offset)>,
}

/// A class of addresses.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Class {
    /// The origins, and the distances from them; none if no other thread gets there.
    pub at: Vec<(Origin, Offset)>,
    /// How many bytes; 0 if that is not known.
    pub size: u64,
    /// What else is known.
    pub hints: Hints,
    /// Whether it is the same address at all times in one thread.
    pub stable: bool,
    /// Whether it is memory that a thread has made and whose address it has not given away yet.
    pub hidden: bool,
}

/// All classes of a program.
#[derive(Default, Debug)]
pub struct Classes {
    classes: Vec<Class>,
    numbers: FxHashMap<Class, usize>,
    /// Globals whose address goes anywhere, and the name of each.
    pub globals: FxHashMap<Object, (bool, String)>,
}

impl Classes {
    /// The number of a class.
    pub fn number(&mut self, class: Class) -> usize {
        if let Some(&number) = self.numbers.get(&class) {
            return number;
        }
        let number = self.classes.len();
        self.numbers.insert(class.clone(), number);
        self.classes.push(class);
        number
    }

    /// A class by its number.
    pub fn get(&self, number: usize) -> Option<&Class> {
        self.classes.get(number)
    }

    /// The classes as the analysis and reports know them.
    pub fn locations(&self) -> Vec<Location> {
        self.classes.iter().map(|class| self.location(class)).collect()
    }

    fn location(&self, class: &Class) -> Location {
        let (base, offset) = match class.at[..] {
            [(Origin::Global(object), offset)] => (Base::Global(object), offset),
            [(Origin::Own(_, local), offset)] => (Base::Allocation(local), offset),
            [(Origin::Value(..) | Origin::Passed(..), offset)] => {
                let same = |other: &Class| matches!(other.at[..], [(origin, _)] if Some(origin) == class.at.first().map(|at| at.0));
                let number = self.classes.iter().position(same).unwrap_or_default();
                (Base::Pointer(number as u32), offset)
            }
            _ => (Base::Unknown, Offset::ANY),
        };
        let offset = (offset.every == 0).then_some(offset.at);
        Location { name: self.name(class), base, offset, size: class.size }
    }

    /// What to call a class in reports.
    fn name(&self, class: &Class) -> String {
        let distance = |offset: Offset| match offset {
            Offset { at: 0, every: 0 } => String::new(),
            Offset { at, every: 0 } => format!("{at:+}"),
            Offset { .. } => "[…]".to_owned(),
        };
        if let Some((name, _, offset)) = class.hints.inside.first() {
            let name = name.split('\0').next().unwrap_or_default();
            return format!("{name}{}", distance(*offset));
        }
        match class.at[..] {
            [] => "memory of the thread alone".to_owned(),
            [(Origin::Global(object), offset)] => {
                let name = self.globals.get(&object).map_or("?", |known| &known.1);
                format!("{name}{}", distance(offset))
            }
            [(Origin::Own(..), offset)] => format!("memory of the thread{}", distance(offset)),
            [(Origin::Passed(..), offset)] => format!("the thread's argument{}", distance(offset)),
            [(Origin::Value(_, value), offset)] => format!("*p{value}{}", distance(offset)),
            [(Origin::Fixed, Offset { at, every: 0 })] => format!("{at:#x}"),
            _ => "anything".to_owned(),
        }
    }

    /// Whether types keep any two addresses apart, and nothing else does.
    pub fn tell_by_type(&self) -> bool {
        let typed: Vec<&Class> = self.classes.iter().filter(|class| !class.hints.inside.is_empty()).collect();
        let without =
            |class: &Class| Class { hints: Hints { inside: Vec::new(), ..class.hints }, ..class.clone() };
        typed.iter().enumerate().any(|(n, a)| {
            let bare = without(a);
            typed[..n].iter().any(|b| !self.meet(a, b, true) && self.meet(&bare, b, true))
        })
    }

    fn meet(&self, a: &Class, b: &Class, apart: bool) -> bool {
        let far = |size: u64| if size == 0 { u64::MAX } else { size };
        let (a_size, b_size) = (far(a.size), far(b.size));
        let overlap = |x: Offset, y: Offset| x.overlaps(a_size, y, b_size);
        let leaks = |object: &Object| self.globals.get(object).is_none_or(|known| known.0);
        a.at.iter().any(|(x, x_at)| {
            b.at.iter().any(|(y, y_at)| match (x, y) {
                (Origin::Global(g), Origin::Global(h)) => g == h && overlap(*x_at, *y_at),
                (Origin::Own(..), Origin::Own(..)) if x == y => !apart && overlap(*x_at, *y_at),
                (Origin::Own(..), Origin::Own(..)) => false,
                (Origin::Passed(..), Origin::Passed(..)) => x == y && overlap(*x_at, *y_at),
                (Origin::Fixed, Origin::Fixed) => overlap(*x_at, *y_at),
                (Origin::Global(_), Origin::Own(..) | Origin::Passed(..)) => false,
                (Origin::Own(..) | Origin::Passed(..), Origin::Global(_)) => false,
                (Origin::Own(..), Origin::Passed(..)) | (Origin::Passed(..), Origin::Own(..)) => true,
                // A call may lead back to a function that knows the global by name.
                (Origin::Unknown, _) | (_, Origin::Unknown) => true,
                (Origin::Global(g), _) | (_, Origin::Global(g)) => leaks(g),
                (Origin::Value(..), Origin::Value(..)) if x == y && !apart && a.stable && b.stable => {
                    overlap(*x_at, *y_at)
                }
                (Origin::Value(..), Origin::Value(..)) => Hints::allow(&a.hints, a_size, &b.hints, b_size),
                _ => true,
            })
        })
    }
}

impl Hints {
    /// Whether two addresses with these hints can overlap.
    fn allow(a: &Hints, a_size: u64, b: &Hints, b_size: u64) -> bool {
        let ((every, at), (other_every, other_at)) = (a.aligned, b.aligned);
        let shared = gcd(every, other_every);
        if every != 0 && other_every != 0 && shared > 1 {
            let x = Offset { at: (at % shared) as i64, every: shared };
            let y = Offset { at: (other_at % shared) as i64, every: shared };
            if !x.overlaps(a_size, y, b_size) {
                return false;
            }
        }
        let in_it = |offset: Offset, size: u64, whole: u64| {
            offset.every == 0
                && offset.at >= 0
                && (offset.at as u64).checked_add(size).is_some_and(|end| end <= whole)
        };
        !a.inside.iter().any(|(name, whole, x)| {
            b.inside.iter().any(|(other, other_whole, y)| {
                name == other
                    && whole == other_whole
                    && in_it(*x, a_size, *whole)
                    && in_it(*y, b_size, *whole)
                    && !x.overlaps(a_size, *y, b_size)
            })
        })
    }
}

impl Class {
    /// Everything that threads share.
    pub fn anything() -> Class {
        let at = vec![(Origin::Unknown, Offset::ANY)];
        Class { at, size: 0, hints: Hints::default(), stable: false, hidden: false }
    }

    /// Memory that no other thread gets at.
    pub fn private() -> Class {
        Class { at: Vec::new(), ..Class::anything() }
    }

    fn is_private(&self) -> bool {
        self.at.is_empty()
    }

    /// Whether two accesses always touch the same bytes.
    fn is(&self, other: &Class) -> bool {
        let exact = |class: &Class| matches!(class.at[..], [(origin, Offset { every: 0, .. })] if origin != Origin::Unknown);
        self.at == other.at
            && self.size == other.size
            && self.size > 0
            && exact(self)
            && self.stable
            && other.stable
    }
}

impl Aliases for Classes {
    fn may(&self, a: usize, b: usize) -> bool {
        match (self.get(a), self.get(b)) {
            // Which private memory is not told.
            (Some(a), Some(b)) => (a.is_private() && b.is_private()) || self.meet(a, b, false),
            _ => true,
        }
    }

    fn across(&self, a: usize, b: usize) -> bool {
        match (self.get(a), self.get(b)) {
            (Some(a), Some(b)) => !a.is_private() && !b.is_private() && self.meet(a, b, true),
            _ => true,
        }
    }

    fn must(&self, a: usize, b: usize) -> bool {
        match (self.get(a), self.get(b)) {
            (Some(a), Some(b)) => a.is(b),
            _ => false,
        }
    }

    fn hidden(&self, a: usize) -> bool {
        self.get(a).is_some_and(|class| class.hidden)
    }

    fn same(&self, a: usize, b: usize) -> bool {
        let global = |class: &Class| matches!(class.at[..], [(Origin::Global(_) | Origin::Fixed, _)]);
        self.must(a, b) && self.get(a).is_some_and(global)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(origin: Origin, at: i64, size: u64) -> Class {
        Class {
            at: vec![(origin, Offset { at, every: 0 })],
            size,
            hints: Hints::default(),
            stable: true,
            hidden: false,
        }
    }

    #[test]
    fn rows_of_the_table() {
        let mut classes = Classes::default();
        classes.globals.insert(0, (false, "x".to_owned()));
        classes.globals.insert(1, (true, "y".to_owned()));
        let x = classes.number(class(Origin::Global(0), 0, 4));
        let x4 = classes.number(class(Origin::Global(0), 4, 4));
        let y = classes.number(class(Origin::Global(1), 0, 4));
        let p = classes.number(class(Origin::Value(0, 7), 0, 4));
        let p4 = classes.number(class(Origin::Value(0, 7), 4, 4));
        let q = classes.number(class(Origin::Value(1, 3), 4, 4));
        let may = |a, b| classes.may(a, b) && classes.may(b, a);
        assert!(may(x, x) && !may(x, x4) && !may(x, y));
        assert!(!may(x, p) && may(y, p), "only an address that goes anywhere can be found there");
        assert!(may(p, q) && may(p4, q) && !may(p, p4));
        assert!(classes.must(p, p) && !classes.same(p, p) && classes.same(x, x));
        assert!(!classes.must(p, p4) && !classes.must(p4, q));
    }

    #[test]
    fn alignment_and_types_tell_pointers_apart() {
        let mut classes = Classes::default();
        let mut with = |value: u32, aligned: (u64, u64), inside: &[(&str, i64)]| {
            let inside =
                inside.iter().map(|(name, at)| ((*name).to_owned(), 32, Offset { at: *at, every: 0 }));
            let hints = Hints { aligned, inside: inside.collect() };
            classes.number(Class { hints, ..class(Origin::Value(0, value), aligned.1 as i64, 8) })
        };
        let a = with(1, (64, 0), &[]);
        let b = with(2, (64, 8), &[]);
        let c = with(3, (16, 8), &[]);
        let d = with(4, (0, 0), &[("s", 0)]);
        let e = with(5, (0, 0), &[("s", 8)]);
        let f = with(6, (0, 0), &[("t", 8)]);
        assert!(!classes.may(a, b) && classes.may(b, c) && !classes.may(a, c));
        assert!(!classes.may(d, e) && classes.may(d, f) && classes.may(d, d));
    }
}
