//! One run of a program, with its time and peak memory.

use crate::Outcome;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// What a run took.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Wall-clock time, start-up included.
    pub seconds: f64,
    /// User and system time, all threads.
    pub cpu_seconds: f64,
    /// Peak resident memory, in bytes.
    pub memory: u64,
}

/// How a run ended.
pub struct Ended {
    pub printed: String,
    /// The exit code; none if a signal ended it.
    pub code: Option<i32>,
    pub usage: Usage,
}

/// Runs a command to its end.
pub fn measure(command: &mut Command) -> Outcome<Ended> {
    let start = Instant::now();
    let name = command.get_program().to_string_lossy().into_owned();
    let failed = |error: std::io::Error| format!("{name}: {error}");
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().map_err(failed)?;
    let mut printed = String::new();
    if let Some(stdout) = &mut child.stdout {
        stdout.read_to_string(&mut printed).map_err(failed)?;
    }
    let (status, usage) = wait(child.id()).map_err(failed)?;
    let time = |t: libc::timeval| t.tv_sec as f64 + t.tv_usec as f64 / 1e6;
    let usage = Usage {
        seconds: start.elapsed().as_secs_f64(),
        cpu_seconds: time(usage.ru_utime) + time(usage.ru_stime),
        // In kilobytes on Linux.
        memory: usage.ru_maxrss as u64 * 1024,
    };
    let code = libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status));
    Ok(Ended { printed, code, usage })
}

/// Waits for a child: the standard library does not give its resource usage.
#[allow(unsafe_code)]
fn wait(child: u32) -> std::io::Result<(i32, libc::rusage)> {
    let mut status = 0;
    // SAFETY: `rusage` is a plain struct of integers, for which zeros are valid; `wait4` writes to the two locals only.
    // Nobody else waits for this child: its `Child` is never asked to.
    let (waited, usage) = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        (libc::wait4(child as libc::pid_t, &mut status, 0, &mut usage), usage)
    };
    if waited < 0 { Err(std::io::Error::last_os_error()) } else { Ok((status, usage)) }
}

/// What `seqcst check` said about one program, and what it took.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Numbers {
    pub verdict: String,
    /// States visited.
    pub states: u64,
    /// Transitions taken.
    pub transitions: u64,
    #[serde(flatten)]
    pub usage: Usage,
}

/// Runs `seqcst check` on one program.
fn check(seqcst: &Path, file: &Path, model: &str, flags: &[&str]) -> Outcome<Numbers> {
    let mut command = Command::new(seqcst);
    command.args(["check", "--format", "json", "--model", model]).args(flags).arg(file);
    let Ended { printed, code, usage } = measure(&mut command)?;
    let answer: Value = serde_json::from_str(&printed)
        .map_err(|_| format!("{} under {model}: exit code {code:?}, no answer", file.display()))?;
    Ok(Numbers {
        verdict: answer["verdict"].as_str().unwrap_or_default().to_owned(),
        states: answer["states"].as_u64().unwrap_or(0),
        transitions: answer["transitions"].as_u64().unwrap_or(0),
        usage,
    })
}

/// Runs shorter than this are repeated, and the shortest counts.
const SHORT: f64 = 2.0;
const REPEATS: usize = 3;

/// Runs `seqcst check` on one program, several times if that is quick.
pub fn best_of(seqcst: &Path, file: &Path, model: &str, flags: &[&str]) -> Outcome<Numbers> {
    let mut best = check(seqcst, file, model, flags)?;
    for _ in 1..REPEATS {
        if best.usage.seconds >= SHORT {
            break;
        }
        let again = check(seqcst, file, model, flags)?;
        best = if again.usage.seconds < best.usage.seconds { again } else { best };
    }
    Ok(best)
}

impl Numbers {
    /// Whether a limit ended the search.
    pub fn gave_up(&self) -> bool {
        self.verdict == "gave-up"
    }
}
