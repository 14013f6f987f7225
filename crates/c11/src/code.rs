//! A library as the analysis sees it: structured code over local variables and classes of shared locations.
//!
//! Everything is a number, in the range of its C type: where a result can leave it, [`Expr::Wrap`] says what C makes of it. Signed
//! arithmetic, whose overflow C leaves undefined, has the result that it has without bounds. A pointer to an allocated record is its
//! address, and `NULL` is 0; negative addresses are those of records that are there from the beginning (see
//! [`Class::initial_cell`]). Helper functions are already
//! inlined, so a method has loops and branches, but no calls.

pub mod integer;
pub mod operator;
pub mod print;

pub use integer::Integer;
pub use operator::Operator;
pub use seqcst_model::Mode;

/// A position in the source of a library.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct Site {
    /// Index into [`Library::files`].
    pub file: u32,
    /// From 1.
    pub line: u32,
    /// From 1.
    pub column: u32,
}

/// Index into [`Library::classes`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct ClassId(pub u32);

/// Index into [`Library::records`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct RecordId(pub u32);

/// Index into [`Method::locals`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct LocalId(pub u32);

/// The number of an access, fence or allocation: unique in its library, kept by every transformation, shared by copies.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Label(pub u32);

/// What C calls a memory order, without `memory_order_`.
///
/// Plain accesses of non-atomic fields are `Relaxed` in [`AccessKind`] (see [`Class::is_atomic`]), and an SC access is an SC
/// fence immediately before an access that is acquire and release.
pub fn order_name(order: Mode) -> &'static str {
    match order {
        Mode::NonAtomic => "plain",
        Mode::Relaxed => "relaxed",
        Mode::Acquire => "acquire",
        Mode::Release => "release",
        Mode::AcqRel => "acq_rel",
        Mode::SeqCst => "seq_cst",
    }
}

/// A class of locations that the code treats alike (\[RoboCop24] §7): one for every global and for every field of a record.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Class {
    /// As people would write it: `head`, `node.next`, `buffer[]`, `buffer[].sequence`.
    pub name: String,
    /// The allocated record whose field this is: a location is named by the record's address.
    pub record: Option<RecordId>,
    /// The cells of an array: a location is named by its index too. `Some(None)`: unbounded (of unknown length).
    pub cells: Option<Option<u64>>,
    /// A part of the object that methods are given a pointer to: of such a class every object has locations of its own.
    pub is_of_object: bool,
    /// Declared `_Atomic`? The rest is accessed as if relaxed, and data races are looked for.
    pub is_atomic: bool,
    /// What fits into it.
    pub integer: Integer,
    /// The value at the beginning, or of a field after `calloc`; fields after `malloc` have an arbitrary one.
    pub initial: i128,
    /// Initial values of cells where they differ from `initial` (`sequence[i] = i`): a function of [`Class::INDEX`].
    /// For a field of a record, that variable stands for the address: records that are there from the beginning (sentinels,
    /// made by setup functions or global variables) have the addresses -16, -32, and so on.
    pub initial_cell: Option<Expr>,
}

impl Class {
    /// The variable that stands for the index in [`Class::initial_cell`].
    pub const INDEX: LocalId = LocalId(u32::MAX);
}

/// A record that methods allocate.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Record {
    /// `struct node` without `struct`.
    pub name: String,
}

/// One location, named by a class and what distinguishes the locations of the class.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// The class that the location belongs to.
    pub class: ClassId,
    /// Address of the record, if the class has one.
    pub base: Option<Expr>,
    /// Index of the cell, if the class has cells.
    pub index: Option<Expr>,
}

/// A value computed from local variables.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Expr {
    /// A constant.
    Int(i128),
    /// A variable (parameters are variables).
    Local(LocalId),
    /// `!e`.
    Not(Box<Expr>),
    /// `e`, converted to a type: it wraps around.
    Wrap(Integer, Box<Expr>),
    /// `a op b`.
    Binary(Operator, Box<Expr>, Box<Expr>),
}

impl Expr {
    /// The value, if every variable has one and every operation a result.
    pub fn evaluate(&self, local: &impl Fn(LocalId) -> Option<i128>) -> Option<i128> {
        match self {
            Expr::Int(n) => Some(*n),
            Expr::Local(l) => local(*l),
            Expr::Not(e) => Some((e.evaluate(local)? == 0).into()),
            Expr::Wrap(to, e) => match &**e {
                Expr::Binary(op, a, b) => to.compute(*op, a.evaluate(local)?, b.evaluate(local)?),
                e => Some(to.wrap(e.evaluate(local)?)),
            },
            Expr::Binary(op, a, b) => op.compute(a.evaluate(local)?, b.evaluate(local)?),
        }
    }
}

/// What a read-modify-write does with the value that it finds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "they say what they are")]
pub enum Update {
    Exchange,
    Add,
    Sub,
    And,
    Or,
    Xor,
}

impl Update {
    /// The operator that is applied to the value found and the operand; none for an exchange.
    pub fn operator(self) -> Option<Operator> {
        match self {
            Update::Exchange => None,
            Update::Add => Some(Operator::Add),
            Update::Sub => Some(Operator::Sub),
            Update::And => Some(Operator::And),
            Update::Or => Some(Operator::Or),
            Update::Xor => Some(Operator::Xor),
        }
    }

    /// The value written to an object of that type: atomic updates wrap around silently, those of signed numbers too.
    pub fn compute(self, integer: Integer, found: i128, operand: i128) -> Option<i128> {
        match self.operator() {
            None => Some(operand),
            Some(operator) => integer.compute(operator, found, operand),
        }
    }
}

/// A memory operation, with its label and place in the source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Access {
    /// Identifies the access; copies of it share the label.
    pub label: Label,
    /// Where it is written.
    pub site: Site,
    /// What it does.
    pub kind: AccessKind,
}

/// What a memory operation does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AccessKind {
    /// `to = load(place)`.
    Load {
        /// Takes the value.
        to: LocalId,
        /// What is read.
        place: Place,
        /// Memory order.
        order: Mode,
    },
    /// `to = load(place)`, blocking until `until` (an expression over `to` and others) holds; made by ρ.
    Wait {
        /// Takes the value.
        to: LocalId,
        /// What is read.
        place: Place,
        /// What the value must fulfil.
        until: Expr,
        /// Memory order.
        order: Mode,
    },
    /// `store(place, value)`.
    Store {
        /// What is written.
        place: Place,
        /// The new value.
        value: Expr,
        /// Memory order.
        order: Mode,
    },
    /// `to = fetch_op(place, operand)`.
    Rmw {
        /// Takes the value before.
        to: Option<LocalId>,
        /// What is updated.
        place: Place,
        /// The function applied to the value found.
        update: Update,
        /// The type of the object, in which the result wraps around.
        integer: Integer,
        /// Second argument of `update`.
        operand: Expr,
        /// Memory order.
        order: Mode,
    },
    /// `succeeded = compare_exchange(place, expected, desired)`; `found` takes the value read in either case.
    Cas {
        /// Takes 1 or 0.
        succeeded: Option<LocalId>,
        /// Takes the value read.
        found: Option<LocalId>,
        /// What is updated.
        place: Place,
        /// The value that must be there.
        expected: Expr,
        /// The value that replaces it.
        desired: Expr,
        /// Memory order if it succeeds.
        success: Mode,
        /// How, if it fails: then it is a load.
        failure: Mode,
        /// May fail for no reason.
        is_weak: bool,
        /// Blocks until it can succeed and never fails; made by ρ.
        is_blocking: bool,
    },
    /// A fence.
    Fence {
        /// Memory order.
        order: Mode,
    },
    /// `to = malloc(sizeof record)`: an address that nobody had before.
    Allocate {
        /// Takes the address.
        to: LocalId,
        /// What is allocated.
        record: RecordId,
        /// Are the fields 0 (`calloc`)?
        is_zeroed: bool,
    },
    /// `free(pointer)`: the record may be handed out again by a later `Allocate`.
    Free {
        /// The record's address.
        pointer: Expr,
        /// What is freed.
        record: RecordId,
    },
}

/// A statement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Statement {
    /// A memory operation.
    Access(Access),
    /// `to = value`.
    Assign {
        /// The variable that is assigned.
        to: LocalId,
        /// Its new value.
        value: Expr,
    },
    /// Two branches.
    If {
        /// Not 0: `then` is executed, else `otherwise`.
        condition: Expr,
        /// Executed if the condition is not 0.
        then: Vec<Statement>,
        /// Executed if it is 0.
        otherwise: Vec<Statement>,
    },
    /// Repeats its body until a `Break` or `Return`.
    Loop {
        /// Repeated until a `Break` or `Return`.
        body: Vec<Statement>,
        /// Where it is written.
        site: Site,
    },
    /// Leaves the loop that many levels up (0: the innermost).
    Break(u32),
    /// Begins the next iteration of the loop that many levels up (0: the innermost).
    Continue(u32),
    /// Ends the method.
    Return(Option<Expr>),
    /// Only executions in which this is not 0 are of interest: made by ρ, and (before ρ) where C leaves undefined what comes next.
    Assume(Expr),
}

/// A local variable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Local {
    /// Its name; made-up ones begin with `%`.
    pub name: String,
    /// The record that it points to, if it is declared as a pointer to one.
    pub points_to: Option<RecordId>,
    /// What fits into it.
    pub integer: Integer,
}

/// An exported function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Method {
    /// Its name.
    pub name: String,
    /// Parameters that are values of the client (a pointer to the object is none of them). They may be any numbers of their types. For a
    /// pointer `out` to memory of the client, the variable `*out` stands for the memory; it is a parameter only if it is read.
    /// A method without result that has one such pointer returns what it wrote there.
    pub parameters: Vec<LocalId>,
    /// Local variables, parameters and temporaries included; a [`LocalId`] is an index.
    pub locals: Vec<Local>,
    /// What it does.
    pub body: Vec<Statement>,
    /// Does it return a value?
    pub returns: bool,
    /// Where it is written.
    pub site: Site,
}

/// What the library is meant to be (\[RoboCop24] §3.3), and what its clients promise.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Contract {
    /// The kind of structure, if named.
    pub specification: Option<Specification>,
    /// Roles that methods play: (role, method).
    pub roles: Vec<(Role, String)>,
    /// Groups of methods that one and the same thread calls, ever.
    pub one_thread: Vec<Vec<String>>,
    /// Labels of accesses that are declared linearization points.
    pub points: Vec<Label>,
    /// Functions that run before anything else, once, and whose effects every thread knows. They are none of the methods any
    /// more: the initial values of classes have their effects.
    pub setup: Vec<String>,
}

/// A kind of structure.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "they say what they are")]
pub enum Specification {
    Register,
    Stack,
    Queue,
    Set,
    Deque,
    Lock,
}

/// What a method is to the specification.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "they say what they are")]
pub enum Role {
    Get,
    Set,
    Add,
    Remove,
    Contains,
    Take,
    Steal,
    Lock,
    Unlock,
}

/// A library: the methods that clients may call in any order from any number of threads.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Library {
    /// Paths of its sources, as given.
    pub files: Vec<String>,
    /// Records that are allocated.
    pub records: Vec<Record>,
    /// Classes of shared locations.
    pub classes: Vec<Class>,
    /// Are there records in global variables? Objects share them, as they share globals.
    pub has_global_records: bool,
    /// Exported functions.
    pub methods: Vec<Method>,
    /// Specification and promises of clients.
    pub contract: Contract,
}
