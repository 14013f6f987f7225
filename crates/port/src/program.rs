//! What the analysis sees of a program: control-flow graphs of C11 accesses, before any mapping to a machine.
//!
//! A function here is what one thread may run, calls already followed. Its nodes are memory accesses, fences, calls
//! that could not be followed, and plain control flow; other instructions need no node. Accesses to memory that never
//! leaves its thread need none either, unless they order others: then they are at a location that nobody else meets.
//!
//! A front end keeps a node at the end of every basic block (its terminator) and at the beginning of every block with
//! several predecessors, so that every place for a fence is [before a node](Point::Before) or [on an edge](Point::On).

use seqcst_model::Mode;
pub use seqcst_report::Place;

/// A program: the functions that may run at the same time.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Program {
    /// What threads may run.
    pub functions: Vec<Function>,
    /// The classes of addresses that accesses name by number.
    pub locations: Vec<Location>,
}

/// The code of one thread, calls followed.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Instructions and places where control flow splits or joins.
    pub nodes: Vec<Node>,
    /// Where it begins.
    pub entry: usize,
    /// Whether two threads may be in it at the same time.
    pub many: bool,
}

/// An instruction, or a place in the control flow.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Node {
    /// What happens here.
    pub kind: NodeKind,
    /// Where control may go; nowhere at the end of a thread.
    pub next: Vec<Edge>,
    /// How many loops it is in.
    pub depth: u32,
    /// Where it stands in the source, if that is known.
    pub place: Option<Place>,
    /// The instruction of the text that it comes from. Nodes with the same tag are copies of one instruction: what is done to
    /// one is done to all. [`NOWHERE`] has no place in the text: nothing can be put before it.
    pub tag: u32,
}

/// The tag of nodes that stand for nothing in the text.
pub const NOWHERE: u32 = u32::MAX;

/// A way out of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Edge {
    /// The node it leads to.
    pub to: usize,
    /// Which outcome of a compare-and-swap takes it.
    pub when: CasOutcome,
}

/// Which outcomes of a compare-and-swap lead along an edge.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum CasOutcome {
    /// Any; also for nodes that are no compare-and-swap, and where it is unknown.
    #[default]
    Always,
    /// Only when it succeeded.
    Success,
    /// Only when it failed.
    Failure,
}

/// What happens at a node.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum NodeKind {
    /// Nothing that memory sees: a branch, a join, the end of a block.
    #[default]
    Nothing,
    /// A memory access.
    Access(Access),
    /// `atomic_thread_fence`
    Fence(Mode),
    /// A fence that orders earlier writes before later ones, and nothing else: `dmb ishst`. C11 has none.
    StoreFence,
    /// There may be fences or locked instructions here, in code that nobody has looked at: on the machine that the program
    /// comes from they may order what is before and after, on the one that it goes to nothing is said.
    MayFence,
    /// A call that could not be followed (indirect, external, inline assembly): it may read and write whatever may be
    /// at `location`, and it is not known to order anything.
    Opaque {
        /// What is called.
        name: String,
        /// A class of addresses that overlaps all it may touch.
        location: usize,
        /// Whether there may be fences in it, or locked instructions, as in [`MayFence`](NodeKind::MayFence).
        fences: bool,
    },
}

/// A memory access.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Access {
    /// Load, store, or both.
    pub kind: Kind,
    /// Its memory order; of a compare-and-swap, when it succeeds.
    pub order: Mode,
    /// The memory order of a compare-and-swap that fails.
    pub failure: Mode,
    /// Where: a class of addresses, an index into [`Program::locations`].
    pub location: usize,
    /// How many bytes.
    pub size: u32,
    /// Whether it is `volatile`.
    pub volatile: bool,
    /// Earlier accesses of the function whose value it depends on.
    pub depends: Vec<Dependency>,
}

impl Access {
    /// Whether it may order other accesses around it, wherever it goes: x86 locks every read-modify-write, ARMv8 keeps
    /// everything after an acquire load and before a release store.
    pub fn orders_others(&self) -> bool {
        match self.kind {
            Kind::Rmw | Kind::Cas => true,
            Kind::Load => self.order.is_acquire() || self.is_wide(),
            Kind::Store => self.order.is_release() || self.is_wide(),
        }
    }

    /// Whether it is atomic and larger than any register. (What library functions access is larger than that.)
    pub fn is_wide(&self) -> bool {
        self.order != Mode::NonAtomic && (9..=16).contains(&self.size)
    }
}

/// What kind of access.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    /// A load.
    Load,
    /// A store.
    Store,
    /// A read-modify-write that always writes.
    Rmw,
    /// A compare-and-swap: a read-modify-write if it succeeds, a load if it fails.
    Cas,
}

/// That an access depends on an earlier one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Dependency {
    /// The node of the earlier access, which reads.
    pub on: usize,
    /// How its value is used.
    pub kind: DependencyKind,
    /// Whether it is there on every way from the one to the other. Without it, it may be there.
    pub certain: bool,
}

/// How a value that was read is used.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum DependencyKind {
    /// In the address.
    Address,
    /// In the value that is written.
    Data,
    /// In a branch on the way.
    Control,
}

/// A class of addresses: what a front end knows about where an access goes.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Location {
    /// What it is called, for reports.
    pub name: String,
    /// The object.
    pub base: Base,
    /// The offset in the object, if it is always the same.
    pub offset: Option<i64>,
    /// How many bytes from there on are touched (0: unknown).
    pub size: u64,
}

/// The object that an address is in.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Base {
    /// One object that is the same for all threads: a global.
    Global(u32),
    /// An object per thread, or per execution of an allocation: two accesses with this base may be in the same object,
    /// never in one with another number or in a global.
    Allocation(u32),
    /// An address from elsewhere (an argument, a loaded pointer), the same one at every access with this number *of
    /// one thread*. It may be anywhere but in objects that never escape.
    Pointer(u32),
    /// Anywhere.
    Unknown,
}

/// A place where a fence can be put.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Point {
    /// Right before a node of a function, whichever way control came there.
    Before {
        /// Index into [`Program::functions`].
        function: usize,
        /// Index into [`Function::nodes`].
        node: usize,
    },
    /// On an edge from a node with several ways out to one with several ways in.
    On {
        /// Index into [`Program::functions`].
        function: usize,
        /// The node that the edge leaves.
        from: usize,
        /// Index into [`Node::next`].
        edge: usize,
    },
}

/// A place in the text, which may have several points: those in copies of the same code.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Spot {
    /// The tag of the node that it is before, or that the edge leaves.
    pub tag: u32,
    /// The edge, if it is on one.
    pub edge: Option<usize>,
}

impl Program {
    /// Where in the text a point is; none if nothing can be put there.
    pub fn spot(&self, point: Point) -> Option<Spot> {
        let tag = |function: usize, node: usize| {
            let node = self.functions.get(function)?.nodes.get(node)?;
            Some(node.tag).filter(|&tag| tag != NOWHERE)
        };
        match point {
            Point::Before { function, node } => Some(Spot { tag: tag(function, node)?, edge: None }),
            Point::On { function, from, edge } => Some(Spot { tag: tag(function, from)?, edge: Some(edge) }),
        }
    }
}

/// May two accesses touch the same memory, and must they?
pub trait Aliases {
    /// Whether accesses to these classes of addresses, of different threads or the same, may overlap.
    fn may(&self, a: usize, b: usize) -> bool;

    /// Whether accesses to these classes of addresses, of different threads, may overlap.
    fn across(&self, a: usize, b: usize) -> bool {
        self.may(a, b)
    }

    /// Whether accesses to these classes, *of one thread* at any two moments, always touch the same bytes.
    fn must(&self, a: usize, b: usize) -> bool;

    /// Whether this is memory that its thread has just made, and accesses to this class come before its address is given away:
    /// other threads see nothing of them until a later write has told them where to look.
    fn hidden(&self, _class: usize) -> bool {
        false
    }

    /// Whether accesses to these classes always touch the same bytes, whichever threads they are of.
    fn same(&self, a: usize, b: usize) -> bool;
}

impl Aliases for Program {
    fn may(&self, a: usize, b: usize) -> bool {
        match (self.locations.get(a), self.locations.get(b)) {
            (Some(a), Some(b)) => a.may_overlap(b),
            _ => true,
        }
    }

    fn must(&self, a: usize, b: usize) -> bool {
        match (self.locations.get(a), self.locations.get(b)) {
            (Some(a), Some(b)) => a.is_always(b),
            _ => false,
        }
    }

    fn same(&self, a: usize, b: usize) -> bool {
        let global =
            |number: usize| self.locations.get(number).is_some_and(|l| matches!(l.base, Base::Global(_)));
        global(a) && self.must(a, b)
    }
}

impl Location {
    fn may_overlap(&self, other: &Location) -> bool {
        match (&self.base, &other.base) {
            (Base::Global(a), Base::Global(b)) | (Base::Allocation(a), Base::Allocation(b)) => {
                a == b && self.may_overlap_in_object(other)
            }
            (Base::Global(_), Base::Allocation(_)) | (Base::Allocation(_), Base::Global(_)) => false,
            _ => true,
        }
    }

    fn may_overlap_in_object(&self, other: &Location) -> bool {
        let (Some(a), Some(b)) = (self.offset, other.offset) else { return true };
        let reaches =
            |from: i64, size: u64, to: i64| size == 0 || i128::from(from) + i128::from(size) > i128::from(to);
        if a <= b { reaches(a, self.size, b) } else { reaches(b, other.size, a) }
    }

    fn is_always(&self, other: &Location) -> bool {
        let same_base = matches!(
            (&self.base, &other.base),
            (Base::Global(a), Base::Global(b)) | (Base::Pointer(a), Base::Pointer(b)) if a == b
        );
        same_base
            && self.offset.is_some()
            && self.offset == other.offset
            && self.size == other.size
            && self.size > 0
    }
}

impl Edge {
    /// An edge that is always taken.
    pub fn to(to: usize) -> Edge {
        Edge { to, when: CasOutcome::Always }
    }
}
