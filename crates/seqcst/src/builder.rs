//! What to explore and how far.

use crate::exploration::Exploration;
use crate::rt::source::Options;
use std::io::Write;
use std::time::Duration;

pub use seqcst_model::Model;

/// Which schedules to try.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Strategy {
    /// One execution for every trace, by dynamic partial-order reduction: exhaustive, if it comes to its end.
    #[default]
    Dpor,
    /// The same, by number of preemptions up to this one: all traces that need no more.
    BoundedDpor(u32),
    /// All schedules by their number of preemptions, up to this one if given.
    Bounded(Option<u32>),
    /// Probabilistic concurrency testing: random priorities that change `depth - 1` times.
    Pct {
        /// How many pairs of steps a bug needs in the right order.
        depth: u32,
    },
    /// A thread drawn by lot at every step.
    Random,
}

/// Explores the executions of a closure.
///
/// Environment variables that [`Builder::new`] and [`crate::model`] look at: `SEQCST_TAPE` (replays one execution),
/// `SEQCST_STRATEGY` (`dpor`, `dpor:2`, `bounded`, `bounded:2`, `pct`, `pct:3`, `random`), `SEQCST_MODEL` (`rc11`, `rc20`, `ra`, `tso`,
/// `sc`), `SEQCST_EXECUTIONS`, `SEQCST_SEED`, `SEQCST_ALL` (1: it is a failure if not all schedules were tried), `SEQCST_HANG`
/// (seconds) and `SEQCST_LOG` (1: prints a summary).
#[derive(Clone, Debug)]
#[must_use]
pub struct Builder {
    pub(crate) strategy: Strategy,
    pub(crate) executions: u64,
    pub(crate) time: Duration,
    pub(crate) seed: u64,
    pub(crate) tape: Option<String>,
    pub(crate) log: bool,
    pub(crate) all: bool,
    pub(crate) options: Options,
}

/// With strategies that could go on forever, and with `dpor` unless another limit is set.
const EXECUTIONS: u64 = 1_000_000;
const FEWER: u64 = 10_000;

/// No step for so long, and a test is taken to hang.
const HANG: Duration = Duration::from_secs(10);

impl Default for Builder {
    fn default() -> Builder {
        let options = Options {
            model: Model::default(),
            step_limit: 10_000,
            stack_size: 1 << 20,
            patience: 5,
            may_panic: false,
            leaks: false,
            spurious: false,
            hang: HANG,
        };
        Builder {
            strategy: Strategy::Dpor,
            executions: 0,
            time: Duration::MAX,
            seed: 1,
            tape: None,
            log: false,
            all: false,
            options,
        }
    }
}

impl Builder {
    /// The usual: `dpor`, RC11, at most a million executions, and what the environment says.
    ///
    /// # Panics
    /// If the environment says something that can't be understood.
    #[track_caller]
    pub fn new() -> Builder {
        let mut builder = Builder::default();
        let get = |name: &str| std::env::var(name).ok().filter(|text| !text.is_empty());
        builder.tape = get("SEQCST_TAPE");
        builder.log = get("SEQCST_LOG").is_some_and(|text| text != "0");
        if let Some(text) = get("SEQCST_STRATEGY") {
            builder.strategy = strategy(&text).unwrap_or_else(|| refuse("SEQCST_STRATEGY", &text));
        }
        if let Some(text) = get("SEQCST_MODEL") {
            builder.options.model = model(&text).unwrap_or_else(|| refuse("SEQCST_MODEL", &text));
        }
        if let Some(text) = get("SEQCST_EXECUTIONS") {
            builder.executions = text.parse().unwrap_or_else(|_| refuse("SEQCST_EXECUTIONS", &text));
        }
        builder.all = get("SEQCST_ALL").is_some_and(|text| text != "0");
        if let Some(text) = get("SEQCST_HANG") {
            let seconds = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
            builder.options.hang = seconds.unwrap_or_else(|| refuse("SEQCST_HANG", &text));
        }
        if let Some(text) = get("SEQCST_SEED") {
            builder.seed = text.parse().unwrap_or_else(|_| refuse("SEQCST_SEED", &text));
        }
        builder
    }

    /// Which schedules to try.
    pub fn strategy(mut self, strategy: Strategy) -> Builder {
        self.strategy = strategy;
        self
    }

    /// Which memory model to watch for.
    pub fn memory_model(mut self, model: Model) -> Builder {
        assert!(Model::WATCHED.contains(&model), "seqcst has no monitor for {model}");
        self.options.model = model;
        self
    }

    /// It is a failure if the strategy doesn't come to its end: if a limit was reached, or an execution was given up, or loops
    /// were only taken for waits. Strategies that pick at random never do.
    pub fn all_schedules(mut self, all: bool) -> Builder {
        self.all = all;
        self
    }

    /// If there is no step for so long, the process is ended, with a word on where it hangs: 10 s unless told otherwise; zero:
    /// it may take as long as it likes, as it may when a tape is replayed.
    pub fn hang(mut self, time: Duration) -> Builder {
        self.options.hang = time;
        self
    }

    /// At most so many executions.
    pub fn executions(mut self, executions: u64) -> Builder {
        self.executions = executions;
        self
    }

    /// Not longer than this.
    pub fn time_limit(mut self, time: Duration) -> Builder {
        self.time = time;
        self
    }

    /// At most so many steps in an execution: more are a failure.
    pub fn steps(mut self, steps: u32) -> Builder {
        self.options.step_limit = steps.max(1);
        self
    }

    /// The seed of strategies that pick at random.
    pub fn seed(mut self, seed: u64) -> Builder {
        self.seed = seed;
        self
    }

    /// Replays one execution, as a report says.
    pub fn tape(mut self, tape: impl Into<String>) -> Builder {
        self.tape = Some(tape.into());
        self
    }

    /// The size of every thread's stack, in bytes: 1 MiB unless told otherwise. Who needs more is ended by the system, with
    /// no more words than about an invalid address.
    pub fn stack_size(mut self, bytes: usize) -> Builder {
        self.options.stack_size = bytes.max(16 << 10);
        self
    }

    /// A load that gives the same value so often in a row, with nothing else in between, is taken for a spin loop even
    /// without [`crate::hint::spin_loop`].
    pub fn patience(mut self, reads: u32) -> Builder {
        self.options.patience = reads.max(1);
        self
    }

    /// Threads may panic, for somebody to hear of it by `join`; a panic of the closure itself is still a failure.
    pub fn threads_may_panic(mut self, may: bool) -> Builder {
        self.options.may_panic = may;
        self
    }

    /// A value in an [`crate::sync::Arc`] that is never dropped is a failure.
    pub fn find_leaks(mut self, find: bool) -> Builder {
        self.options.leaks = find;
        self
    }

    /// `compare_exchange_weak` also fails without a reason, in executions of their own. (In a loop there are infinitely
    /// many of them.)
    pub fn spurious_failures(mut self, fail: bool) -> Builder {
        self.options.spurious = fail;
        self
    }

    /// Prints a summary to standard error.
    pub fn log(mut self, log: bool) -> Builder {
        self.log = log;
        self
    }

    pub(crate) fn limit(&self) -> u64 {
        match (self.executions, self.strategy) {
            (0, Strategy::Dpor | Strategy::BoundedDpor(_) | Strategy::Bounded(_)) => EXECUTIONS,
            (0, _) => FEWER,
            (executions, _) => executions,
        }
    }

    /// Explores, and panics with a report if something is wrong. If a limit was reached before all schedules were tried, that
    /// is said on standard error, or a failure: see [`Builder::all_schedules`].
    ///
    /// # Panics
    /// If something is wrong: an access that could be stale, a race, a panic, a deadlock, too many steps.
    #[track_caller]
    pub fn check(&self, f: impl Fn()) {
        let exploration = self.explore(f);
        if self.log {
            eprintln!("{}", exploration.summary());
        }
        if let Some(report) = exploration.report() {
            panic!("{report}");
        }
        match exploration.left_out() {
            Some(why) if self.all => panic!("seqcst: not all schedules were tried: {why}"),
            Some(why) if exploration.reached_limit() => {
                // Not by `eprintln`, which the test harness keeps to itself when a test passes.
                let test = std::thread::current().name().map(|name| format!("{name}: ")).unwrap_or_default();
                let text = format!(
                    "seqcst: {test}not all schedules were tried: {why} (SEQCST_ALL=1 makes this a failure)\n"
                );
                let _ = std::io::stderr().write_all(text.as_bytes());
            }
            _ => {}
        }
    }

    /// Explores, and tells what came of it.
    ///
    /// # Panics
    /// If called inside a model.
    #[track_caller]
    pub fn explore(&self, f: impl Fn()) -> Exploration {
        assert!(!crate::rt::inside(), "seqcst: a model inside a model");
        Exploration::new(self, &f)
    }
}

#[track_caller]
fn refuse<T>(name: &str, text: &str) -> T {
    panic!("seqcst: {name}={text} is not understood; see the documentation of seqcst::Builder")
}

fn strategy(text: &str) -> Option<Strategy> {
    let (name, number) = match text.split_once(':') {
        Some((name, number)) => (name, Some(number.parse().ok()?)),
        None => (text, None),
    };
    match (name, number) {
        ("dpor", max) => Some(max.map_or(Strategy::Dpor, Strategy::BoundedDpor)),
        ("bounded", max) => Some(Strategy::Bounded(max)),
        ("pct", depth) => Some(Strategy::Pct { depth: depth.unwrap_or(3) }),
        ("random", None) => Some(Strategy::Random),
        _ => None,
    }
}

fn model(text: &str) -> Option<Model> {
    Model::named(text).filter(|model| Model::WATCHED.contains(model))
}
