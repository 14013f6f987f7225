//! A solver's process. Reading and writing have a thread each, so that neither waits for the other, and a solver that does
//! neither is stopped.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

/// A running solver.
pub struct Process {
    child: Child,
    input: Sender<String>,
    output: Receiver<Vec<u8>>,
    /// Read, but not yet taken.
    pending: Vec<u8>,
    markers: u64,
}

/// Why there is no reply.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NoReply {
    /// The time limit has passed.
    Late,
    /// Nobody waits for it any more.
    Stopped,
    /// The process ended; what it said last, and how it ended.
    Died { said: String, how: String },
    /// More than any reply has.
    TooLong,
}

/// Longer replies are garbage.
const LONGEST: usize = 64 << 20;

/// How often to look whether to stop.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

impl Process {
    /// Starts a solver that reads commands from its standard input.
    pub fn start(program: &Path, memory: u32) -> std::io::Result<Process> {
        let mut child = Command::new(program)
            .args(["-in", "-smt2", &format!("-memory:{memory}")])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let (input, texts) = channel();
        let (chunks, output) = sync_channel(16);
        if let Some(stdin) = child.stdin.take() {
            thread::spawn(move || write(stdin, texts));
        }
        if let Some(stdout) = child.stdout.take() {
            thread::spawn(move || read(stdout, chunks));
        }
        Ok(Process { child, input, output, pending: Vec::new(), markers: 0 })
    }

    /// Sends commands and gives all that is printed for them.
    pub fn ask(
        &mut self,
        mut commands: String,
        patience: Duration,
        stop: &AtomicBool,
    ) -> Result<String, NoReply> {
        self.markers += 1;
        let marker = format!("seqcst-{}", self.markers);
        commands.push_str(&format!("\n(echo \"{marker}\")\n"));
        // If nobody takes it, the process has ended, and that will be seen.
        let _ = self.input.send(commands);
        let deadline = Instant::now() + patience;
        let mut looked = 0;
        loop {
            if let Some(reply) = self.take_reply(&marker, &mut looked) {
                return Ok(reply);
            }
            if self.pending.len() > LONGEST {
                return Err(NoReply::TooLong);
            }
            if stop.load(Ordering::Relaxed) {
                return Err(NoReply::Stopped);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            match self.output.recv_timeout(left.min(POLL_INTERVAL)) {
                Ok(chunk) => self.pending.extend(chunk),
                Err(RecvTimeoutError::Timeout) if left.is_zero() => return Err(NoReply::Late),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(self.died()),
            }
        }
    }

    /// What stands before the line with the marker, if that has come. `looked` lines end before that byte.
    fn take_reply(&mut self, marker: &str, looked: &mut usize) -> Option<String> {
        while let Some(length) = self.pending[*looked..].iter().position(|&byte| byte == b'\n') {
            let line = &self.pending[*looked..*looked + length];
            if line.trim_ascii() == marker.as_bytes() {
                let reply = String::from_utf8_lossy(&self.pending[..*looked]).into_owned();
                self.pending.drain(..*looked + length + 1);
                return Some(reply);
            }
            *looked += length + 1;
        }
        None
    }

    /// How it ended; its pipe is closed, so it soon will have.
    fn died(&mut self) -> NoReply {
        let said = String::from_utf8_lossy(&self.pending).trim().to_owned();
        let deadline = Instant::now() + Duration::from_millis(500);
        let how = loop {
            match self.child.try_wait() {
                Ok(Some(status)) => break status.to_string(),
                Ok(None) if Instant::now() < deadline => thread::sleep(Duration::from_millis(5)),
                _ => break "closed its output".to_owned(),
            }
        };
        NoReply::Died { said, how }
    }
}

impl Drop for Process {
    /// Both threads end with the pipes.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn write(mut stdin: ChildStdin, texts: Receiver<String>) {
    for text in texts {
        if stdin.write_all(text.as_bytes()).and_then(|()| stdin.flush()).is_err() {
            return;
        }
    }
}

fn read(mut stdout: ChildStdout, chunks: SyncSender<Vec<u8>>) {
    let mut buffer = vec![0; 1 << 16];
    loop {
        match stdout.read(&mut buffer) {
            Ok(0) => return,
            Ok(length) if chunks.send(buffer[..length].to_vec()).is_err() => return,
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}
