//! `rust-models TOOL TEST right|wrong`: one test with one tool, and what came of it as a line of JSON. Without arguments it
//! lists the tests.

#![allow(clippy::undocumented_unsafe_blocks)]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

mod with_seqcst {
    mod tool {
        pub use seqcst::cell::UnsafeCell;
        pub use seqcst::sync::Arc;
        pub use seqcst::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering, fence};
        pub use seqcst::thread;
    }
    include!("tests.rs");
}

mod with_loom {
    mod tool {
        pub use loom::cell::UnsafeCell;
        pub use loom::sync::Arc;
        pub use loom::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering, fence};
        pub use loom::thread;
    }
    include!("tests.rs");
}

mod with_shuttle {
    mod tool {
        pub use shuttle::sync::Arc;
        pub use shuttle::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering, fence};
        pub use shuttle::thread;

        /// Shuttle has no cells of its own.
        #[derive(Debug)]
        pub struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

        impl<T> UnsafeCell<T> {
            pub fn new(value: T) -> UnsafeCell<T> {
                UnsafeCell(std::cell::UnsafeCell::new(value))
            }

            pub fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
                f(self.0.get())
            }

            pub fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
                f(self.0.get())
            }
        }
    }
    include!("tests.rs");
}

/// No test may take longer.
const LIMIT: Duration = Duration::from_secs(30);
/// So many random executions.
const LOTS: usize = 10_000;

static EXECUTIONS: AtomicU64 = AtomicU64::new(0);

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [tool, name, variant] = &args[..] else {
        with_seqcst::TESTS.iter().for_each(|(name, _)| println!("{name}"));
        return;
    };
    let words = std::sync::Arc::new(Mutex::new(None));
    let said = words.clone();
    std::panic::set_hook(Box::new(move |info| {
        said.lock().unwrap().get_or_insert_with(|| text(info.payload()));
    }));
    let start = Instant::now();
    let result = catch_unwind(AssertUnwindSafe(|| run(tool, name, variant == "wrong")));
    let (seconds, busy) = (start.elapsed().as_secs_f64(), busy());
    let found = match result {
        Ok(()) if start.elapsed() >= LIMIT => "gave up: time".to_owned(),
        Ok(()) => String::new(),
        Err(payload) => words.lock().unwrap().take().unwrap_or_else(|| text(&*payload)),
    };
    let found = found.lines().next().unwrap_or_default().replace(['"', '\\'], "'");
    let executions = EXECUTIONS.load(Relaxed);
    println!(
        r#"{{"tool":"{tool}","test":"{name}","variant":"{variant}","found":"{found}","executions":{executions},"seconds":{seconds:.6},"cpu_seconds":{busy:.6}}}"#
    );
    // Some of them leave threads behind.
    std::process::exit(0);
}

/// CPU time of the process so far: what it takes on a machine that has nothing else to do.
fn busy() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: it writes there and nowhere else.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

fn text(payload: &dyn std::any::Any) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| text.to_string());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a panic".to_owned())
}

fn run(tool: &str, name: &str, wrong: bool) {
    let test = |tests: &[(&str, fn(bool))]| {
        let test = tests.iter().find(|(other, _)| *other == name).expect("a test").1;
        move || {
            EXECUTIONS.fetch_add(1, Relaxed);
            test(wrong);
        }
    };
    match tool {
        "seqcst" => {
            let exploration = seqcst::Builder::default().time_limit(LIMIT).explore(test(&with_seqcst::TESTS));
            // Not those that try how a report could be simpler.
            EXECUTIONS.store(exploration.executions(), Relaxed);
            if let Some(report) = exploration.report() {
                panic!("{report}");
            }
        }
        "loom" => {
            let mut builder = loom::model::Builder::new();
            builder.max_duration = Some(LIMIT);
            builder.check(test(&with_loom::TESTS));
        }
        "seqcst random" => {
            let builder =
                seqcst::Builder::default().strategy(seqcst::Strategy::Random).executions(100 * LOTS as u64);
            builder.check(test(&with_seqcst::TESTS));
        }
        "shuttle" => {
            let mut config = shuttle::Config::new();
            config.max_time = Some(LIMIT);
            config.silence_warnings = true;
            config.failure_persistence = shuttle::FailurePersistence::None;
            let scheduler = shuttle::scheduler::RandomScheduler::new(LOTS);
            shuttle::Runner::new(scheduler, config).run(test(&with_shuttle::TESTS));
        }
        other => panic!("no tool is called {other}"),
    }
}
