//! Finite-state monitors: bounded metadata, for checkers that visit all states.
//!
//! A state is a flat slice of words. Every thread has a block of them and every location has a block of them; the first
//! word of a block belongs to the explorer (the thread's local state, the location's value), the others to the
//! monitor. Keeping one slice makes packing, hashing and thread symmetry the explorer's business alone.

mod hb_sc;
mod psc;
mod rc20;
mod stale;
mod summary;
mod tso;

pub use rc20::Rc20;
pub use summary::{Summary, Usage, Use};
pub use tso::Tso;

use seqcst_model::{Action, Loc, Mode, Outcome};

/// How a state is laid out: blocks of words for threads, then blocks of words for locations.
#[derive(Clone, Debug)]
pub struct Shape {
    /// Number of threads.
    pub threads: usize,
    /// Number of locations.
    pub locations: usize,
    /// Bits that each word of a thread's block can use; the first is the explorer's.
    pub thread_widths: Vec<u8>,
    /// Bits that each word of a location's block can use, for each location; the first is the explorer's.
    pub location_widths: Vec<Vec<u8>>,
}

impl Shape {
    /// A shape without metadata.
    pub fn bare(threads: usize, locations: usize) -> Shape {
        Shape { threads, locations, thread_widths: vec![0], location_widths: vec![vec![0]; locations] }
    }

    /// Where the thread's block starts.
    pub fn thread(&self, thread: usize) -> usize {
        thread * self.thread_widths.len()
    }

    /// Where the location's block starts.
    pub fn location(&self, loc: Loc) -> usize {
        let block = self.location_widths.first().map_or(1, Vec::len);
        self.threads * self.thread_widths.len() + loc.index() * block
    }

    /// The number of words in a state.
    pub fn words(&self) -> usize {
        self.threads * self.thread_widths.len() + self.location_widths.iter().map(Vec::len).sum::<usize>()
    }
}

/// A finite-state monitor for one memory model and one program.
///
/// The order of calls for a step of `thread`: [`stale`](Monitor::stale) and [`races`](Monitor::races) in the state
/// before it, then [`step`](Monitor::step) while the location's value word still holds the old value, then
/// [`fence`](Monitor::fence) for the fences that follow immediately, then [`normalise`](Monitor::normalise).
pub trait Monitor: Sync {
    /// The layout of states.
    fn shape(&self) -> &Shape;

    /// Sets the metadata of the initial state (all words are 0 before).
    fn start(&self, state: &mut [u64]);

    /// Could this access, about to be executed, do under the weak model what SC forbids? This is the non-robustness
    /// witness of \[Rocker19] Thm. 5.1 and \[RoboCop24] Def. 4.3. Asked whether or not the access is enabled.
    fn stale(&self, state: &[u64], thread: usize, action: &Action) -> bool;

    /// Is this non-atomic access, about to be executed, unordered with an earlier conflicting one?
    fn races(&self, _state: &[u64], _thread: usize, _action: &Action) -> bool {
        false
    }

    /// Learns that the action was executed with this outcome. The location's value word holds the old value.
    fn step(&self, state: &mut [u64], thread: usize, action: &Action, outcome: Outcome);

    /// Learns that the thread executed a fence.
    fn fence(&self, state: &mut [u64], thread: usize, mode: Mode);

    /// Brings metadata that no future check can tell apart into one form. `finished` has a bit for every thread that
    /// will never move again.
    fn normalise(&self, state: &mut [u64], finished: u64);

    /// Exchanges two threads that have the same code.
    fn swap(&self, state: &mut [u64], a: usize, b: usize) {
        let shape = self.shape();
        for word in 0..shape.thread_widths.len() {
            state.swap(shape.thread(a) + word, shape.thread(b) + word);
        }
    }

    /// Whether the shape turned out too small for this program: the search must start again with
    /// [`grown`](Monitor::grown).
    fn overflowed(&self) -> bool {
        false
    }

    /// The same monitor with a larger shape.
    fn grown(&self) -> Box<dyn Monitor>;

    /// The locations whose accesses it checks. What it keeps for the sake of one of them is independent of what it
    /// keeps for the others, so each can be checked by a monitor of its own, with far fewer states.
    fn checked(&self) -> Vec<Loc>;
}

/// Plain SC: nothing to watch.
pub struct Sc(Shape);

impl Sc {
    /// A monitor that never reports.
    pub fn new(summary: &Summary) -> Sc {
        Sc(Shape::bare(summary.threads, summary.locations))
    }
}

impl Monitor for Sc {
    fn shape(&self) -> &Shape {
        &self.0
    }
    fn start(&self, _state: &mut [u64]) {}
    fn stale(&self, _state: &[u64], _thread: usize, _action: &Action) -> bool {
        false
    }
    fn step(&self, _state: &mut [u64], _thread: usize, _action: &Action, _outcome: Outcome) {}
    fn fence(&self, _state: &mut [u64], _thread: usize, _mode: Mode) {}
    fn normalise(&self, _state: &mut [u64], _finished: u64) {}
    fn grown(&self) -> Box<dyn Monitor> {
        Box::new(Sc(self.0.clone()))
    }
    fn checked(&self) -> Vec<Loc> {
        Vec::new()
    }
}
