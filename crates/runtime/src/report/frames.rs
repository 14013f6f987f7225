//! Frames of a stack: which of them people want to see, and which one stands for the access.

/// One function of a stack, inlined or not.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Frame {
    /// Demangled; empty if unknown.
    pub function: String,
    /// As the compiler was told; empty if unknown.
    pub file: String,
    /// 0 if unknown.
    pub line: u32,
    /// 0 if unknown.
    pub column: u32,
    /// The line is only the nearest one that is known: the instruction stands for several places.
    pub near: bool,
    /// The file of the executable or library; empty if unknown.
    pub module: String,
    /// The instruction's address in that file, or in memory if the module is unknown.
    pub offset: u64,
    /// Inlined into the next frame.
    pub inlined: bool,
}

/// Headers that define C++'s atomics, libstdc++'s and libc++'s.
const ATOMIC_HEADERS: [&str; 4] = ["/bits/atomic_base.h", "/atomic", "/stdatomic.h", "/bits/atomic_wait.h"];
const STD_LOCKS: [&str; 11] = [
    "std/src/sys/sync/",
    "std/src/sync/mpmc/",
    "std/src/sync/mpsc/",
    "std/src/sync/mpsc.rs",
    "std/src/sync/poison/",
    "std/src/sync/once_lock.rs",
    "std/src/sync/lazy_lock.rs",
    "std/src/sync/barrier.rs",
    "std/src/sync/reentrant_lock.rs",
    "std/src/thread/",
    "std/src/sys/thread",
];
const STD_LOCK_FUNCTIONS: [&str; 9] = [
    "std::sys::sync::",
    "std::sync::mpmc::",
    "std::sync::mpsc::",
    "std::sync::poison::",
    "std::sync::once_lock::",
    "std::sync::lazy_lock::",
    "std::sync::barrier::",
    "std::sync::reentrant_lock::",
    "std::thread::",
];

impl Frame {
    /// Inside of Rust's standard library: the path from `library/` on.
    fn in_rust_library(&self) -> Option<&str> {
        let at = self.file.find("/library/")? + "/library/".len();
        let rest = &self.file[at..];
        let ours = ["core/src/", "alloc/src/", "std/src/"].iter().any(|part| rest.starts_with(part));
        ours.then_some(rest)
    }

    /// The body of an atomic operation or of a helper that merely passes it on, not code that somebody wrote the access in.
    pub fn is_atomics_own(&self) -> bool {
        let function = self.function.trim_start_matches('<');
        self.is_ours()
            || self.in_rust_library().is_some_and(|path| path.starts_with("core/src/"))
            || function.starts_with("core::sync::atomic::")
            || [
                "std::atomic<",
                "std::__atomic_base<",
                "std::atomic_",
                "std::__1::__atomic_base<",
                "std::__1::atomic<",
            ]
            .iter()
            .any(|start| function.starts_with(start))
            || ATOMIC_HEADERS.iter().any(|header| self.file.ends_with(header))
            || self.file.contains("/c++/v1/__atomic/")
    }

    /// In the locks, channels and threads of Rust's standard library.
    fn is_std_lock(&self) -> bool {
        let function = self.function.trim_start_matches('<');
        self.in_rust_library().is_some_and(|path| STD_LOCKS.iter().any(|lock| path.starts_with(lock)))
            || STD_LOCK_FUNCTIONS.iter().any(|lock| function.starts_with(lock))
    }

    fn is_std(&self) -> bool {
        let function = self.function.trim_start_matches('<');
        self.in_rust_library().is_some()
            || ["std::", "core::", "alloc::"].iter().any(|start| function.starts_with(start))
    }

    /// This runtime itself, which starts the program's threads.
    fn is_ours(&self) -> bool {
        ["seqcst_runtime::", "__interpose_", "__tsan_"].iter().any(|start| self.function.starts_with(start))
    }

    /// Below `main`: what every stack ends with.
    fn is_start(&self) -> bool {
        let library = self.module.rsplit('/').next().unwrap_or_default();
        ["libc.so", "ld-linux", "libstdc++.so", "libc++.so"].iter().any(|start| library.starts_with(start))
            || self.file.contains("/include/c++/")
            || self.is_std()
            || self.is_ours()
    }

    /// The file, shorter: without the working directory, without where packages are kept.
    pub fn short_file<'a>(&'a self, directory: &str) -> &'a str {
        if self.file.starts_with("/rustc/")
            && let Some(at) = self.file.find("/library/")
        {
            return &self.file[at + 1..];
        }
        if let Some(at) = self.file.find("/registry/src/") {
            let rest = &self.file[at + "/registry/src/".len()..];
            return rest.split_once('/').map_or(rest, |(_, path)| path);
        }
        if let Some(at) = self.file.find("/include/c++/") {
            return &self.file[at + "/include/".len()..];
        }
        let inside = self.file.strip_prefix(directory).and_then(|rest| rest.strip_prefix('/'));
        inside.filter(|_| !directory.is_empty()).unwrap_or(&self.file)
    }

    /// `file.c:31`, or the module and offset.
    pub fn place(&self) -> String {
        if self.file.is_empty() {
            return self.module_place();
        }
        let name = self.file.rsplit('/').next().unwrap_or_default();
        match (self.line, self.near) {
            (0, _) => name.to_owned(),
            (line, true) => format!("near {name}:{line}"),
            (line, false) => format!("{name}:{line}"),
        }
    }

    /// `file.c:31:12`, for where several accesses are on one line.
    pub fn exact_place(&self) -> String {
        let place = self.place();
        if self.file.is_empty() || self.column == 0 { place } else { format!("{place}:{}", self.column) }
    }

    /// `program+0x1234`
    pub fn module_place(&self) -> String {
        match self.module.rsplit('/').next().unwrap_or_default() {
            "" => format!("{:#x}", self.offset),
            name => format!("{name}+{:#x}", self.offset),
        }
    }

    /// What tells source positions apart: file, line and column, or module and offset.
    pub fn key(&self) -> (&str, u64, u32) {
        if self.line == 0 || self.near {
            (&self.module, self.offset, 0)
        } else {
            (&self.file, self.line.into(), self.column)
        }
    }
}

/// The frame that stands for an access: the innermost that isn't the atomic's own.
pub fn headline(frames: &[Frame]) -> Option<&Frame> {
    frames.iter().find(|frame| !frame.is_atomics_own()).or(frames.first())
}

/// The frames that tell accesses apart: the headline and the functions that it is inlined into. Small functions around
/// an atomic would else make one access of all their uses.
pub fn distinctive(frames: &[Frame]) -> &[Frame] {
    let first = frames.iter().position(|frame| !frame.is_atomics_own()).unwrap_or(0);
    let last =
        frames.iter().skip(first).position(|frame| !frame.inlined).map_or(frames.len(), |n| first + n + 1);
    &frames[first..last]
}

/// The access is in the locks, channels or threads of Rust's standard library, which are inlined into programs.
pub fn is_std_lock(frames: &[Frame]) -> bool {
    frames.iter().take_while(|frame| frame.is_std()).any(Frame::is_std_lock)
}

/// What is shown: from the headline to the outermost function that isn't the start-up code.
pub fn shown(frames: &[Frame]) -> &[Frame] {
    let first = frames.iter().position(|frame| !frame.is_atomics_own()).unwrap_or(0);
    // Rust marks where the program begins.
    let begin = frames.iter().position(|frame| frame.function.contains("__rust_begin_short_backtrace"));
    let ours = &frames[..begin.filter(|&begin| begin > first).unwrap_or(frames.len())];
    let end = ours.iter().rposition(|frame| !frame.is_start()).map_or(frames.len(), |last| last + 1);
    &frames[first..end.max(first + 1).min(frames.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(function: &str, file: &str) -> Frame {
        Frame { function: function.into(), file: file.into(), line: 7, column: 3, ..Frame::default() }
    }

    fn rust(path: &str) -> Frame {
        frame("load", &format!("/rustc/abcdef/library/{path}"))
    }

    #[test]
    fn atomics_are_skipped() {
        let gcc = "/usr/lib/gcc/x86_64-linux-gnu/12/../../../../include/c++/12/bits/atomic_base.h";
        let frames =
            [frame("std::__atomic_base<int>::load", gcc), frame("reader()", "/src/q.cpp"), frame("main", "")];
        assert_eq!(headline(&frames).unwrap().function, "reader()");
        let frames =
            [rust("core/src/sync/atomic.rs"), frame("try_enter", "src/lib.rs"), rust("std/src/rt.rs")];
        assert_eq!(headline(&frames).unwrap().function, "try_enter");
        assert_eq!(shown(&frames), &frames[1..2]);
        let begin = frame("std::sys::backtrace::__rust_begin_short_backtrace", "");
        let frames = [frame("f", "a.rs"), rust("core/src/ops/function.rs"), begin, frame("main", "")];
        assert_eq!(shown(&frames), &frames[..1]);
        let frames = [frame("core::sync::atomic::AtomicU32::load", "")];
        assert_eq!((headline(&frames), shown(&frames)), (frames.first(), &frames[..]));
        assert_eq!((headline(&[]), shown(&[])), (None, &[][..]));
    }

    #[test]
    fn user_files_are_not_std() {
        assert!(!frame("atomic", "/src/atomic.c").is_atomics_own());
        assert!(!frame("f", "/home/me/library/code/src/x.rs").is_atomics_own());
        assert!(!is_std_lock(&[frame("lock", "/home/me/library/std/code.rs")]));
        assert!(!is_std_lock(&[frame("my::lock", "src/lib.rs"), rust("std/src/sys/sync/mutex/futex.rs")]));
    }

    #[test]
    fn std_locks() {
        let lock = [
            rust("core/src/sync/atomic.rs"),
            rust("std/src/sys/sync/mutex/futex.rs"),
            frame("f", "src/lib.rs"),
        ];
        assert!(is_std_lock(&lock));
        assert!(is_std_lock(&[rust("std/src/sync/mpmc/list.rs")]));
        assert!(is_std_lock(&[frame("<std::sys::sync::once::futex::Once>::call", "")]));
        // Reference counts are std's too, but not locks.
        assert!(!is_std_lock(&[
            rust("core/src/sync/atomic.rs"),
            rust("alloc/src/sync.rs"),
            frame("f", "x.rs")
        ]));
    }

    #[test]
    fn short_names() {
        let dir = "/home/me/p";
        assert_eq!(frame("", "/home/me/p/src/a.c").short_file(dir), "src/a.c");
        assert_eq!(frame("", "/home/me/p2/src/a.c").short_file(dir), "/home/me/p2/src/a.c");
        assert_eq!(rust("std/src/rt.rs").short_file(dir), "library/std/src/rt.rs");
        let registry = "/root/.cargo/registry/src/index.crates.io-19/arc-swap-1.8.2/src/debt.rs";
        assert_eq!(frame("", registry).short_file(""), "arc-swap-1.8.2/src/debt.rs");
        let header = "/usr/lib/gcc/x86_64-linux-gnu/12/../../../../include/c++/12/bits/invoke.h";
        assert_eq!(frame("", header).short_file(dir), "c++/12/bits/invoke.h");
        assert_eq!(frame("", "/a/b.c").place(), "b.c:7");
        assert_eq!(frame("", "/a/b.c").exact_place(), "b.c:7:3");
        let bare = Frame { module: "/bin/x".into(), offset: 0x1234, ..Frame::default() };
        assert_eq!(bare.place(), "x+0x1234");
    }
}
