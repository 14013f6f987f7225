//! One run of the program, and the reports that came out of it.

use rustix::process::{Pid, Signal, kill_process};
use seqcst_report::answer::Report;
use serde::Deserialize;
use std::ffi::OsString;
use std::fs;
use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// How to run the program.
pub struct Plan {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Options for the runtime.
    pub options: String,
    /// How long it may take.
    pub timeout: Option<Duration>,
    /// Throw away what it prints.
    pub quiet: bool,
    /// Its standard output goes to standard error.
    pub divert: bool,
    /// Reports are kept back until it is known whether they are news.
    pub repeated: bool,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// With an exit code.
    Code(i32),
    /// By a signal.
    Signal(i32),
    /// It took too long.
    TimedOut,
}

/// What came out of a run.
pub struct Run {
    /// How it ended.
    pub ending: Ending,
    /// One document per process.
    pub documents: Vec<Document>,
    /// What the runtime wrote, if it was kept back.
    pub log: String,
}

/// What the runtime writes about a process.
#[derive(Deserialize)]
pub struct Document {
    tool: String,
    /// The memory model.
    pub model: String,
    /// What it found.
    pub reports: Vec<Report>,
    /// What it could not watch.
    pub notes: Vec<String>,
}

/// How long a program may take to write its reports when it is stopped.
const GRACE: Duration = Duration::from_secs(5);

/// The options that the user set, in the environment and by flags, in one text.
pub fn options(flags: &[String]) -> Result<String, String> {
    let set = std::env::var("SEQCST_OPTIONS").unwrap_or_default();
    let all = std::iter::once(set).chain(flags.iter().cloned()).filter(|option| !option.is_empty());
    let all = all.collect::<Vec<_>>().join(":");
    if all.split([':', ',', ' ']).any(|option| option.starts_with("json=")) {
        return Err("option json=… is what seqcst uses itself: say --format json".to_owned());
    }
    Ok(all)
}

/// Options with one more.
pub fn with_option(options: &str, option: &str) -> String {
    if options.is_empty() { option.to_owned() } else { format!("{options}:{option}") }
}

/// Runs the program once.
pub fn run(plan: &Plan) -> Result<Run, String> {
    let folder = Folder::new()?;
    let mut options = with_option(&plan.options, &folder.json_option());
    let keeps_log = plan.repeated && !plan.options.contains("log_path=");
    if keeps_log {
        options = with_option(&options, &folder.log_option());
    }
    let mut command = Command::new(&plan.program);
    command.args(&plan.args).env("SEQCST_OPTIONS", options);
    if plan.quiet {
        command.stdout(Stdio::null()).stderr(Stdio::null());
    } else if plan.divert {
        let stderr = std::io::stderr().as_fd().try_clone_to_owned();
        command.stdout(stderr.map_or_else(|_| Stdio::null(), Stdio::from));
    }
    let child = command.spawn().map_err(|error| format!("{}: {error}", plan.program.display()))?;
    let ending = wait(child, plan.timeout).map_err(|error| format!("{}: {error}", plan.program.display()))?;
    let log = if keeps_log { folder.log() } else { String::new() };
    Ok(Run { ending, documents: folder.documents(), log })
}

/// Waits for the end, and brings it about when the time is over.
fn wait(mut child: Child, timeout: Option<Duration>) -> std::io::Result<Ending> {
    let Some(timeout) = timeout else { return child.wait().map(ending) };
    if let Some(status) = wait_for(&mut child, timeout)? {
        return Ok(ending(status));
    }
    // The runtime writes its reports when a program is aborted.
    if let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        let _ = kill_process(pid, Signal::ABORT);
        wait_for(&mut child, GRACE)?;
    }
    let _ = child.kill();
    child.wait()?;
    Ok(Ending::TimedOut)
}

/// Waits for the end of a process, but no longer than that.
pub fn wait_for(child: &mut Child, timeout: Duration) -> std::io::Result<Option<ExitStatus>> {
    let start = Instant::now();
    let mut pause = Duration::from_millis(1);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        let Some(left) = timeout.checked_sub(start.elapsed()) else { return Ok(None) };
        std::thread::sleep(pause.min(left));
        pause = (pause * 2).min(Duration::from_millis(50));
    }
}

fn ending(status: ExitStatus) -> Ending {
    match (status.code(), status.signal()) {
        (Some(code), _) => Ending::Code(code),
        (None, signal) => Ending::Signal(signal.unwrap_or_default()),
    }
}

/// A temporary directory for the files that the runtime writes.
pub struct Folder(PathBuf);

impl Folder {
    /// An empty one.
    pub fn new() -> Result<Folder, String> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        loop {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let path = std::env::temp_dir().join(format!("seqcst-run-{}-{number}", std::process::id()));
            match fs::create_dir(&path) {
                Ok(()) => return Ok(Folder(path)),
                // Left behind by a process that was killed and had this number.
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(format!("{}: {error}", path.display())),
            }
        }
    }

    /// Makes the runtime write its reports here.
    pub fn json_option(&self) -> String {
        format!("json='{}'", self.0.join("%p.json").display())
    }

    /// Makes the runtime write its messages here.
    pub fn log_option(&self) -> String {
        format!("log_path='{}'", self.0.join("log").display())
    }

    /// The reports, one document per process.
    pub fn documents(&self) -> Vec<Document> {
        let documents = self.texts("").into_iter().filter_map(|text| serde_json::from_str(&text).ok());
        documents.filter(|document: &Document| document.tool == "seqcst").collect()
    }

    /// The messages.
    pub fn log(&self) -> String {
        self.texts("log.").concat()
    }

    /// Deletes what was written so far.
    pub fn clear(&self) {
        for entry in fs::read_dir(&self.0).into_iter().flatten().flatten() {
            let _ = fs::remove_file(entry.path());
        }
    }

    /// The contents of all files whose names start like this, in order of their names.
    fn texts(&self, start: &str) -> Vec<String> {
        let entries = fs::read_dir(&self.0).into_iter().flatten().flatten().map(|entry| entry.path());
        let fits = |path: &PathBuf| name(path).starts_with(start);
        let mut paths: Vec<PathBuf> = entries.filter(fits).collect();
        paths.sort();
        let read = |path: &PathBuf| String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned();
        paths.iter().map(read).collect()
    }
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
