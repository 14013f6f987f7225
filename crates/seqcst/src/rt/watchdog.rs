//! Does an execution still make steps?
//!
//! All threads of a model are coroutines on one OS thread. Who blocks that one, say on a lock of the standard library that
//! another thread of the model keeps across a step, blocks all of them, for ever: nobody is left to notice it. So a thread
//! of our own looks at every execution that is under way, and if one makes no step for too long, says where it was and
//! ends the process.

use super::site::{self, Site};
use seqcst_explore::ThreadId;
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};
use std::sync::{Arc, Mutex, Once, PoisonError, Weak};
use std::time::{Duration, Instant};

/// What the watchdog knows of the executions on an OS thread.
#[derive(Debug, Default)]
pub struct Pulse {
    /// Goes up with every step.
    beats: AtomicU64,
    /// An execution is under way.
    active: AtomicBool,
    /// Which thread runs.
    running: AtomicU32,
    /// Where each thread was to make a step last; those with higher numbers are not remembered.
    sites: [AtomicU32; REMEMBERED],
    /// So many milliseconds without a step are too many; 0: none are.
    patience: AtomicU64,
    /// Known to the watchdog.
    watched: AtomicBool,
}

const REMEMBERED: usize = 16;

/// How often to look.
const LOOK: Duration = Duration::from_millis(250);

/// An OS thread with a pulse.
struct Patient {
    pulse: Weak<Pulse>,
    /// The test.
    name: String,
    /// Its folder in `/proc`.
    folder: PathBuf,
    /// When its pulse had changed last.
    seen: (u64, Instant),
}

static PATIENTS: Mutex<Vec<Patient>> = Mutex::new(Vec::new());

impl Pulse {
    /// The calling OS thread makes executions from now on; not longer than this without a step (zero: as long as it takes).
    pub fn watch(self: &Arc<Pulse>, patience: Duration) {
        static WATCHDOG: Once = Once::new();
        self.patience.store(u64::try_from(patience.as_millis()).unwrap_or(u64::MAX), Relaxed);
        if patience.is_zero() || self.watched.swap(true, Relaxed) {
            return;
        }
        let name = std::thread::current().name().unwrap_or("a test").to_owned();
        let folder = std::fs::read_link("/proc/thread-self").unwrap_or_default();
        let seen = (0, Instant::now());
        let patient =
            Patient { pulse: Arc::downgrade(self), name, folder: PathBuf::from("/proc").join(folder), seen };
        PATIENTS.lock().unwrap_or_else(PoisonError::into_inner).push(patient);
        // Without it, hangs are not noticed, and that is all.
        WATCHDOG.call_once(|| {
            let _ = std::thread::Builder::new().name("seqcst watchdog".to_owned()).spawn(look_after_all);
        });
    }

    /// An execution begins.
    pub fn begins(&self) {
        self.sites.iter().for_each(|site| site.store(0, Relaxed));
        self.beat();
        self.active.store(true, Relaxed);
    }

    /// It ends.
    pub fn ends(&self) {
        self.active.store(false, Relaxed);
    }

    /// This thread runs now.
    #[inline]
    pub fn runs(&self, thread: ThreadId) {
        self.running.store(thread, Relaxed);
        self.beat();
    }

    /// The thread is about to make a step here.
    #[inline]
    pub fn arrives(&self, thread: ThreadId, site: Site) {
        if let Some(place) = self.sites.get(thread as usize) {
            place.store(site, Relaxed);
        }
        self.beat();
    }

    #[inline]
    fn beat(&self) {
        // One thread writes.
        self.beats.store(self.beats.load(Relaxed).wrapping_add(1), Relaxed);
    }
}

fn look_after_all() {
    loop {
        let before = Instant::now();
        std::thread::sleep(LOOK);
        // The whole process was stopped, by a debugger or a terminal: that time doesn't count.
        let paused = before.elapsed() > 4 * LOOK;
        let mut patients = PATIENTS.lock().unwrap_or_else(PoisonError::into_inner);
        patients.retain_mut(|patient| {
            let Some(pulse) = patient.pulse.upgrade() else { return false };
            patient.look(&pulse, paused);
            true
        });
    }
}

impl Patient {
    fn look(&mut self, pulse: &Pulse, paused: bool) {
        let beats = pulse.beats.load(Relaxed);
        if paused || !pulse.active.load(Relaxed) || beats != self.seen.0 {
            self.seen = (beats, Instant::now());
            return;
        }
        let (patience, since) = (Duration::from_millis(pulse.patience.load(Relaxed)), self.seen.1.elapsed());
        if !patience.is_zero() && since > patience {
            // Not by `eprintln`, which the test harness would keep to itself.
            let _ = std::io::Write::write_all(&mut std::io::stderr(), self.tell(pulse, since).as_bytes());
            std::process::abort();
        }
    }

    fn tell(&self, pulse: &Pulse, since: Duration) -> String {
        let mut text =
            format!("\nseqcst: {} hangs: no step of its model for {} s\n", self.name, since.as_secs());
        let running = pulse.running.load(Relaxed);
        let at = |thread: ThreadId| {
            let site = pulse.sites.get(thread as usize).map_or(0, |site| site.load(Relaxed));
            site::place(site).map(ToString::to_string)
        };
        let who = |thread: ThreadId| if thread == 0 { "main".to_owned() } else { format!("thread {thread}") };
        let last = at(running)
            .map_or("has come to no step yet".to_owned(), |at| format!("came last to a step at {at}"));
        let _ = writeln!(text, "  {} runs, and {last}", who(running));
        for thread in (0..REMEMBERED as ThreadId).filter(|&thread| thread != running) {
            if let Some(at) = at(thread) {
                let _ = writeln!(text, "  {} came last to a step at {at}", who(thread));
            }
        }
        text += match self.is_blocked() {
            Some(true) => {
                "  It is blocked in the operating system. All threads of a model share one OS thread: if one of them holds a\n\
                 \x20 lock of the standard library (std::sync::Mutex, RwLock, LazyLock, …) while it makes a step, and another\n\
                 \x20 one waits for that lock, nobody can go on. Use the types of seqcst::sync, or give the lock back first.\n"
            }
            Some(false) => {
                "  It computes, or goes round in a loop without a step: a loop that waits for another thread must read\n\
                 \x20 something of seqcst::sync, for others don't run meanwhile.\n"
            }
            None => {
                "  It is blocked by something outside of the model, or goes round in a loop without a step.\n"
            }
        };
        text += "  (Builder::hang or SEQCST_HANG says how many seconds to wait; 0: for ever.)\n";
        text
    }

    /// Does the OS thread sleep? None: who knows.
    fn is_blocked(&self) -> Option<bool> {
        let stat = std::fs::read_to_string(self.folder.join("stat")).ok()?;
        // After the name, which is in parentheses and may have any in it.
        let state = stat.rsplit_once(')')?.1.trim_start().chars().next()?;
        Some(state != 'R')
    }
}
