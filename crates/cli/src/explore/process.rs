//! A program as a source of executions: a process that is stopped before `main` and forks for each of them.
//!
//! Plans go into shared memory, traces come back ([`Shared`]). While an execution runs we watch that it makes progress.

use super::decode::{self, Decode};
use super::shared::{self, Order, Shared};
use crate::run::once::{Folder, with_option};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process};
use rustix::thread::futex;
use seqcst_explore::wire::{self, Asleep, Capacity, Finding, Header, turn};
use seqcst_explore::{End, Failure, Fallback, Found, Outcome, Plan, Source, ThreadId, Trace};
use seqcst_model::Model;
use std::ffi::OsString;
use std::mem::offset_of;
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// How to start a program and what to look for.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Options for the runtime.
    pub options: String,
    /// The memory model to watch for; SC: no access is called stale.
    pub model: Model,
    /// Look for races.
    pub races: bool,
    /// The most steps of an execution.
    pub steps: u32,
    /// How long it may take to the next step.
    pub hang: Duration,
    /// Show what the program prints, in executions with reports.
    pub output: bool,
}

/// What can go wrong with a program as a source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ProcessError {
    /// It can't be explored: the user must do something about it.
    Refused(String),
    /// It can't go on.
    Lost(String),
}

/// A program, ready to be executed.
pub struct Process {
    settings: Settings,
    server: Child,
    shared: Shared,
    folder: Folder,
    /// The most threads so far.
    threads: u32,
    bytes: Vec<u8>,
    asleep: Vec<Asleep>,
    findings: Vec<Finding>,
    /// No execution goes on after this time.
    until: Option<Instant>,
    /// The server doesn't answer any more.
    lost: bool,
}

/// How an execution ended.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Ending {
    ByItself,
    /// It came to no step for too long, and was stopped.
    Hangs(String),
    /// Time was up, and it was stopped.
    Late,
}

/// How long a program may take to end that was told to.
const STOPPING: Duration = Duration::from_secs(5);

/// How long to sleep between two looks at a program that doesn't answer.
const LOOK: Duration = Duration::from_millis(20);

impl Process {
    /// Starts a program; it waits before `main`.
    pub fn start(settings: Settings) -> Result<Process, ProcessError> {
        let lost = |what: &str, why: std::io::Error| ProcessError::Lost(format!("{what}: {why}"));
        let steps = settings.steps + 1;
        let capacity = Capacity {
            steps,
            changes: steps.saturating_mul(4).max(4096),
            asleep: 4096,
            findings: 64,
            waiting: 4096,
        };
        let shared =
            Shared::new(capacity, settings.steps).map_err(|why| lost("memory for the schedules", why))?;
        let folder = Folder::new().map_err(ProcessError::Lost)?;
        // The exit code stays the program's own, whatever is reported.
        let options = with_option(&settings.options, "exitcode=0");
        let options = with_option(&options, &folder.json_option());
        let mut command = Command::new(&settings.program);
        command.args(&settings.args).stdin(Stdio::null());
        command.env("SEQCST_OPTIONS", with_option(&options, &folder.log_option()));
        command.env(wire::VARIABLE, shared.number().to_string());
        // Answers have standard output for themselves.
        let stderr = std::io::stderr().as_fd().try_clone_to_owned();
        command.stdout(stderr.map_or_else(|_| Stdio::null(), Stdio::from));
        shared::prepare(&mut command);
        let name = settings.program.display().to_string();
        let server = command.spawn().map_err(|why| ProcessError::Refused(format!("{name}: {why}")))?;
        let mut process = Process {
            settings,
            server,
            shared,
            folder,
            threads: 1,
            bytes: Vec::new(),
            asleep: Vec::new(),
            findings: Vec::new(),
            until: None,
            lost: false,
        };
        process.wait_until_ready()?;
        Ok(process)
    }

    /// The number of the process that waits before `main`: its mappings are those of every execution.
    pub fn id(&self) -> u32 {
        self.server.id()
    }

    /// How many threads there were, at most.
    pub fn threads(&self) -> u32 {
        self.threads
    }

    /// Where the reports of executions with reports are.
    pub fn folder(&self) -> &Folder {
        &self.folder
    }

    fn header(&self) -> &Header {
        self.shared.header()
    }

    fn name(&self) -> String {
        self.settings.program.display().to_string()
    }

    fn wait_until_ready(&mut self) -> Result<(), ProcessError> {
        let start = Instant::now();
        loop {
            match self.header().turn.load(Ordering::Acquire) {
                turn::STARTING => {}
                turn::REFUSED => {
                    return Err(ProcessError::Refused(format!("{}: {}", self.name(), self.message())));
                }
                _ => return Ok(()),
            }
            if let Ok(Some(status)) = self.server.try_wait() {
                let said = self.folder.log();
                let why = match status.code() {
                    // The program has done without us: what it is linked with knows nothing of schedules.
                    Some(0) => "it ran to its end and took no notice of the schedules: it was built by an older seqcst; \
                                build it again"
                        .to_owned(),
                    _ => format!("it ended before main ({status})"),
                };
                return Err(ProcessError::Refused(
                    format!("{}: {why}\n{said}", self.name()).trim_end().to_owned(),
                ));
            }
            if start.elapsed() > self.settings.hang {
                return Err(ProcessError::Refused(format!(
                    "{}: it doesn't come to main within {} s (--hang says how long to wait)",
                    self.name(),
                    self.settings.hang.as_secs_f64()
                )));
            }
            sleep_while(&self.header().turn, turn::STARTING);
        }
    }

    /// What the runtime has to say.
    fn message(&mut self) -> String {
        let many = self.header().message_len.load(Ordering::Acquire).min(512) as usize;
        self.shared.copy(offset_of!(Header, message), many, &mut self.bytes);
        String::from_utf8_lossy(&self.bytes).trim_end().to_owned()
    }

    /// Have accesses of different sizes overlapped, in some execution? Then steps name what they touch otherwise than before.
    pub fn is_mixed(&self) -> bool {
        self.header().mixed.load(Ordering::Relaxed) != 0
    }

    /// Executes a plan with full reports, which end up in the folder. What is reported is not noted as well.
    pub fn run_with_reports(&mut self, plan: &Plan, trace: &mut Trace) -> Result<Outcome, ProcessError> {
        let mut outcome = self.execute(plan, trace, true)?;
        for document in self.folder.documents() {
            let errors = document.reports.iter().filter(|report| report.error);
            outcome.found.extend(errors.map(|report| match report.kind.as_str() {
                "race" => Found::Race(0, 0),
                "misuse" => Found::Misuse(0, 0),
                _ => Found::Stale(0),
            }));
        }
        Ok(outcome)
    }

    fn execute(&mut self, plan: &Plan, trace: &mut Trace, reports: bool) -> Result<Outcome, ProcessError> {
        if self.lost {
            return Err(ProcessError::Lost(format!("{} doesn't answer any more", self.name())));
        }
        if self.is_late() {
            return Ok(Outcome { late: true, ..Outcome::default() });
        }
        let (then, seed, depth, length) = match plan.then {
            Fallback::NonPreemptive => (0, 0, 0, 0),
            Fallback::Random { seed } => (1, seed, 0, 0),
            Fallback::Pct { seed, depth, length } => (2, seed, depth, length),
        };
        let order = Order {
            then,
            seed,
            depth,
            length,
            lenient: u32::from(plan.lenient),
            monitor: self.settings.model.number(),
            races: u32::from(self.settings.races),
            reports: u32::from(reports),
            output: u32::from(reports && self.settings.output),
        };
        self.asleep.clear();
        self.asleep.extend(plan.asleep.iter().map(|&(thread, op)| Asleep { op, thread }));
        if !self.shared.order(order, &plan.tape, &self.asleep) {
            return Err(ProcessError::Refused(format!(
                "the tape has {} turns, more than the {} steps that --steps allows",
                plan.tape.len(),
                self.settings.steps
            )));
        }
        let header = self.header();
        for counter in [
            &header.steps,
            &header.changes,
            &header.findings,
            &header.end,
            &header.waiting,
            &header.message_len,
        ] {
            counter.store(0, Ordering::Relaxed);
        }
        header.turn.store(turn::GO, Ordering::Release);
        let _ = futex::wake(&header.turn, futex::Flags::empty(), 1);
        let hangs = match self.wait_until_done()? {
            Ending::ByItself => None,
            Ending::Hangs(why) => Some(why),
            Ending::Late => return Ok(Outcome { late: true, ..Outcome::default() }),
        };
        self.read(trace);
        Ok(self.outcome(trace, hangs))
    }

    fn is_late(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() > until)
    }

    /// Waits for the end of the execution, or brings it about.
    fn wait_until_done(&mut self) -> Result<Ending, ProcessError> {
        let mut seen = (0, 0);
        let mut since = Instant::now();
        let mut ending = Ending::ByItself;
        loop {
            let header = self.header();
            if header.turn.load(Ordering::Acquire) != turn::GO {
                return Ok(ending);
            }
            sleep_while(&header.turn, turn::GO);
            if ending != Ending::ByItself && since.elapsed() > STOPPING {
                self.lost = true;
                if ending == Ending::Late {
                    return Ok(ending);
                }
                return Err(ProcessError::Lost(format!("{} hangs and can't be stopped", self.name())));
            }
            if ending == Ending::ByItself && self.is_late() {
                self.stop_execution();
                (ending, since) = (Ending::Late, Instant::now());
            }
            if ending != Ending::ByItself {
                continue;
            }
            let header = self.header();
            let now = (header.pulse.load(Ordering::Relaxed), header.steps.load(Ordering::Relaxed));
            if now != seen {
                (seen, since) = (now, Instant::now());
                continue;
            }
            if since.elapsed() < LOOK {
                continue;
            }
            if let Ok(Some(status)) = self.server.try_wait() {
                return Err(ProcessError::Lost(format!("{} is gone ({status})", self.name())));
            }
            if since.elapsed() > self.settings.hang {
                self.stop_execution();
                let why = format!("no step for {} s", self.settings.hang.as_secs_f64());
                (ending, since) = (Ending::Hangs(why), Instant::now());
            }
        }
    }

    /// Ends the process of this execution.
    fn stop_execution(&self) {
        let header = self.header();
        let child = header.child.load(Ordering::Acquire);
        // 1 and below are whole groups of processes, or init: never.
        if let Some(pid) = Pid::from_raw(child).filter(|_| child > 1) {
            let _ = kill_process(pid, Signal::KILL);
        }
    }

    fn read(&mut self, trace: &mut Trace) {
        let (layout, capacity, header) = (self.shared.layout(), self.shared.capacity(), self.shared.header());
        let many = |count: &AtomicU32, most: u32| count.load(Ordering::Acquire).min(most) as usize;
        let bytes = &mut self.bytes;
        copy(&self.shared, layout.steps, many(&header.steps, capacity.steps), bytes, &mut trace.steps);
        copy(
            &self.shared,
            layout.changes,
            many(&header.changes, capacity.changes),
            bytes,
            &mut trace.changes,
        );
        self.findings.clear();
        let findings = many(&header.findings, capacity.findings);
        copy(&self.shared, layout.findings, findings, bytes, &mut self.findings);
        let waiting = many(&header.waiting, capacity.waiting);
        copy(&self.shared, layout.waiting, waiting, bytes, &mut trace.waiting);
        let threads = trace.changes.iter().map(|change| change.thread + 1).max();
        self.threads = self.threads.max(threads.unwrap_or(0));
        trace.end = decode::end(header.end.load(Ordering::Acquire)).unwrap_or(End::Diverged);
    }

    fn outcome(&mut self, trace: &Trace, hangs: Option<String>) -> Outcome {
        let found = |finding: &Finding| match finding.kind {
            0 => Found::Stale(finding.site),
            1 => Found::Race(finding.site, finding.other),
            _ => Found::Misuse(finding.site, finding.other),
        };
        let found = self.findings.iter().map(found).collect();
        let message = self.message();
        let status = self.header().status.load(Ordering::Acquire);
        let (signal, code) = (status & 0x7f, (status >> 8) & 0xff);
        let failure = match (hangs, trace.end) {
            (Some(hangs), _) => Some(Failure::Hang(hangs)),
            (None, End::Done) if !message.is_empty() => Some(Failure::Assertion(message)),
            (None, End::Done) if signal != 0 => Some(Failure::Crash(signal)),
            (None, End::Done) if code != 0 => Some(Failure::ExitCode(code)),
            _ => None,
        };
        Outcome { found, failure, late: false }
    }

    /// Steps of the last execution up to what was found first, with that step.
    pub fn found_within(&self) -> Option<usize> {
        self.findings.iter().map(|finding| finding.step as usize + 1).min()
    }

    /// The thread that ran last and its place at its last scheduling point.
    pub fn last_seen(&self) -> (ThreadId, u64) {
        let header = self.header();
        (header.current.load(Ordering::Relaxed), header.site.load(Ordering::Relaxed))
    }
}

impl Source for Process {
    type Error = ProcessError;

    fn run(&mut self, plan: &Plan, trace: &mut Trace) -> Result<Outcome, ProcessError> {
        self.execute(plan, trace, false)
    }

    fn until(&mut self, until: Option<Instant>) {
        self.until = until;
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let header = self.shared.header();
        if let Some(child) = Pid::from_raw(header.child.load(Ordering::Acquire).max(0))
            && header.turn.load(Ordering::Acquire) == turn::GO
        {
            let _ = kill_process(child, Signal::KILL);
        }
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

fn copy<T: Decode>(shared: &Shared, offset: usize, many: usize, bytes: &mut Vec<u8>, into: &mut Vec<T>) {
    shared.copy(offset, many * size_of::<T>(), bytes);
    decode::all(bytes, into);
}

/// Sleeps as long as the value is this one, but not for long.
fn sleep_while(futex: &AtomicU32, value: u32) {
    let time = futex::Timespec { tv_sec: 0, tv_nsec: LOOK.as_nanos() as i64 };
    match futex::wait(futex, futex::Flags::empty(), value, Some(&time)) {
        Ok(()) | Err(Errno::AGAIN | Errno::INTR | Errno::TIMEDOUT) => {}
        // Nothing that could be done about it; at least it must not become a busy loop.
        Err(_) => std::thread::sleep(LOOK),
    }
}
