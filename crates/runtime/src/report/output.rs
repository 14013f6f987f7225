//! Where reports go: standard error, or a file per process. Writes by system calls alone, whole reports at once.

use crate::{options, sys};
use core::sync::atomic::{AtomicI32, Ordering};
use std::ffi::CString;

const UNOPENED: i32 = -1;
/// The open log.
static LOG: AtomicI32 = AtomicI32::new(UNOPENED);

/// Writes to the log. If that fails, says so once and goes on at standard error.
pub fn say(text: &str) {
    let fd = log();
    if let Err(error) = sys::write_all(fd, text.as_bytes())
        && fd != 2
    {
        LOG.store(2, Ordering::Relaxed);
        warn(&format!(
            "can't write to log_path {}: {}; going on here",
            options::get().log_path,
            reason(error)
        ));
        let _ = sys::write_all(2, text.as_bytes());
    }
}

/// A line on standard error.
pub fn warn(text: &str) {
    let _ = sys::write_all(2, format!("seqcst: {text}\n").as_bytes());
}

fn log() -> i32 {
    let fd = LOG.load(Ordering::Relaxed);
    if fd != UNOPENED {
        return fd;
    }
    let fd = match options::get().log_path.as_str() {
        "stderr" => 2,
        "stdout" => 1,
        path => {
            let path = format!("{path}.{}", sys::getpid());
            let flags = sys::O_WRONLY | sys::O_CREAT | sys::O_TRUNC | sys::O_APPEND;
            let opened = CString::new(path.as_str()).map_err(|_| 22).and_then(|path| sys::open(&path, flags));
            opened.unwrap_or_else(|error| {
                warn(&format!("can't open log_path {path}: {}; writing here", reason(error)));
                2
            })
        }
    };
    LOG.store(fd, Ordering::Relaxed);
    fd
}

/// Replaces a file's contents by these, all or nothing.
pub fn replace_file(path: &str, contents: &str) {
    let write = || -> Result<(), i32> {
        let path = CString::new(path).map_err(|_| 22)?;
        let temporary =
            CString::new(format!("{}.{}.tmp", path.to_string_lossy(), sys::getpid())).map_err(|_| 22)?;
        let fd = sys::open(&temporary, sys::O_WRONLY | sys::O_CREAT | sys::O_TRUNC)?;
        let written = sys::write_all(fd, contents.as_bytes());
        sys::close(fd);
        let replaced = written.and_then(|()| sys::rename(&temporary, &path));
        if replaced.is_err() {
            sys::unlink(&temporary);
        }
        replaced
    };
    if let Err(error) = write() {
        warn(&format!("can't write {path}: {}", reason(error)));
    }
}

/// The file that option `json` means: one per process if it names a directory or has `%p` in it.
pub fn per_process(path: &str) -> String {
    let pid = sys::getpid();
    let is_directory = || {
        let opened = CString::new(path).ok().and_then(|path| sys::open(&path, sys::O_DIRECTORY).ok());
        opened.map(sys::close).is_some()
    };
    if path.contains("%p") {
        path.replace("%p", &pid.to_string())
    } else if path.ends_with('/') || is_directory() {
        format!("{}/seqcst-{pid}.json", path.trim_end_matches('/'))
    } else {
        path.to_owned()
    }
}

/// The child of a fork opens its own.
pub fn fork_child() {
    LOG.store(UNOPENED, Ordering::Relaxed);
}

fn reason(error: i32) -> String {
    let known = match error {
        2 => "no such file or directory",
        13 => "permission denied",
        20 => "not a directory",
        21 => "is a directory",
        24 => "too many open files",
        28 => "no space left on the disk",
        30 => "read-only file system",
        122 => "disk quota exceeded",
        _ => return format!("error {error}"),
    };
    known.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_replaced() {
        let path = format!("/tmp/seqcst-output-test-{}", sys::getpid());
        replace_file(&path, "one");
        replace_file(&path, "two");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "two");
        std::fs::remove_file(&path).unwrap();
        replace_file("/no/such/directory/x", "");
    }

    #[test]
    fn names_per_process() {
        let pid = sys::getpid();
        assert_eq!(per_process("a.json"), "a.json");
        assert_eq!(per_process("a-%p.json"), format!("a-{pid}.json"));
        assert_eq!(per_process("/tmp"), format!("/tmp/seqcst-{pid}.json"));
        assert_eq!(per_process("/no/such/dir/"), format!("/no/such/dir/seqcst-{pid}.json"));
    }
}
