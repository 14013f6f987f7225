//! Stubs around the slow paths of Rust's std, as assembly text for the drivers.
//!
//! The names of the slow paths are mangled and differ from toolchain to toolchain: they are found among the symbols of
//! libstd. For each found symbol `S` the program is linked with `--wrap=S` and with a stub `__wrap_S`, which calls
//! `__real_S` and tells the runtime ([`super::rust_std`]) before and after. The text is for `gcc -c` or `clang -c`.
//! This file depends on nothing, so that it can be used outside of the runtime as well.

use std::fmt::Write;

/// What a slow path is about, and which of its arguments tells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum Kind {
    /// A mutex, a read-write lock, a `Once` that is waited for: the first argument is its word.
    Word = 1,
    /// A condition variable: the second argument is the mutex.
    Condvar = 2,
    /// A `Once` that is called: the closure is wrapped too.
    OnceCall = 3,
    /// A barrier: the first argument.
    Barrier = 4,
    /// A thread parks: the first argument is its handle.
    ParkHandle = 5,
    /// The current thread parks.
    Park = 6,
    /// A thread of a scope begins or ends: the first argument is the scope's data.
    Scope = 7,
}

/// Parts of mangled names, in order, the last one at the end.
const PATHS: [(&[&str], Kind); 15] = [
    (&["4sync5mutex5futex", "5Mutex14lock_contended"], Kind::Word),
    (&["4sync6rwlock5futex", "6RwLock14read_contended"], Kind::Word),
    (&["4sync6rwlock5futex", "6RwLock15write_contended"], Kind::Word),
    (&["4sync6rwlock5futex", "6RwLock22wake_writer_or_readers"], Kind::Word),
    (&["4sync7condvar5futex", "7Condvar4wait"], Kind::Condvar),
    (&["4sync7condvar5futex", "7Condvar12wait_timeout"], Kind::Condvar),
    (&["4sync4once5futex", "4Once4call"], Kind::OnceCall),
    (&["3std4sync4once", "4Once4wait"], Kind::Word),
    (&["3std4sync4once", "4Once10wait_force"], Kind::Word),
    (&["3std4sync7barrier", "7Barrier4wait"], Kind::Barrier),
    (&["3std6thread6thread", "6Thread4park"], Kind::ParkHandle),
    (&["3std6thread6thread", "6Thread12park_timeout"], Kind::ParkHandle),
    (&["3std6thread9functions", "4park"], Kind::Park),
    (&["3std6thread9functions", "12park_timeout"], Kind::Park),
    (&["3std6thread6scoped", "9ScopeData29decrement_num_running_threads"], Kind::Scope),
];

/// `std::thread::current`
const CURRENT: &[&str] = &["3std6thread7current", "7current"];

/// What a symbol of libstd is about, if it is one to wrap.
pub fn kind(symbol: &str) -> Option<Kind> {
    PATHS.iter().find(|(path, _)| fits(symbol, path)).map(|&(_, kind)| kind)
}

fn fits(symbol: &str, path: &[&str]) -> bool {
    // Older toolchains end a name with a hash.
    let name = match symbol.rsplit_once("17h") {
        Some((name, hash)) if symbol.starts_with("_ZN") && hash.len() == 17 => name,
        _ => symbol,
    };
    let mut rest = name;
    path.iter().all(|part| match rest.find(part) {
        Some(at) => {
            rest = &rest[at + part.len()..];
            true
        }
        None => false,
    }) && rest.is_empty()
}

/// Wraps what is to be wrapped.
pub struct Stubs {
    /// The symbols that need `--wrap`.
    pub wrapped: Vec<String>,
    /// The stubs, as assembly text.
    pub assembly: String,
}

/// Stubs for the symbols that libstd defines.
pub fn stubs<'a>(symbols: impl Iterator<Item = &'a str> + Clone) -> Stubs {
    let current = symbols.clone().find(|symbol| fits(symbol, CURRENT));
    let mut stubs = Stubs { wrapped: Vec::new(), assembly: ".intel_syntax noprefix\n.text\n".to_owned() };
    for symbol in symbols {
        let Some(kind) = kind(symbol) else { continue };
        let body = match (kind, current) {
            (Kind::OnceCall, _) => once_call(symbol),
            (Kind::Park, None) => continue,
            (Kind::Park, Some(current)) => around(symbol, kind, &learn_thread(current)),
            _ => around(symbol, kind, ""),
        };
        let _ = write!(
            stubs.assembly,
            "\n.globl __wrap_{symbol}\n.hidden __wrap_{symbol}\n.type __wrap_{symbol}, @function\n\
             __wrap_{symbol}:\n.cfi_startproc\n{body}.cfi_endproc\n"
        );
        stubs.wrapped.push(symbol.to_owned());
    }
    stubs.assembly.push_str("\n.section .note.GNU-stack,\"\",@progbits\n");
    stubs
}

/// The closure is replaced by the runtime.
fn once_call(symbol: &str) -> String {
    format!("mov rax, __real_{symbol}@GOTPCREL[rip]\njmp seqcst_std_once_call@PLT\n")
}

/// Tells the runtime which handle this thread has, once.
fn learn_thread(current: &str) -> String {
    format!(
        "call seqcst_std_knows_thread@PLT\ntest al, al\njnz 1f\ncall {current}@PLT\nmov rdi, rax\n\
         call seqcst_std_is_thread@PLT\n1:\nmov rdi, rbx\nmov rsi, r12\n"
    )
}

/// Keeps arguments and results; `first` comes before everything else.
fn around(symbol: &str, kind: Kind, first: &str) -> String {
    let kind = kind as u32;
    format!(
        "push rbp\n.cfi_adjust_cfa_offset 8\n.cfi_offset rbp, -16\nmov rbp, rsp\n.cfi_def_cfa_register rbp\n\
         push rbx\n.cfi_offset rbx, -24\npush r12\n.cfi_offset r12, -32\nmov rbx, rdi\nmov r12, rsi\n\
         push rdi\npush rsi\npush rdx\npush rcx\npush r8\npush r9\n\
         {first}mov edx, {kind}\nmov rcx, [rbp + 8]\ncall seqcst_std_before@PLT\n\
         pop r9\npop r8\npop rcx\npop rdx\npop rsi\npop rdi\n\
         call __real_{symbol}@PLT\n\
         push rax\npush rdx\nmov rdi, rbx\nmov rsi, r12\nmov edx, {kind}\nmov rcx, [rbp + 8]\ncall seqcst_std_after@PLT\npop rdx\npop rax\n\
         pop r12\npop rbx\npop rbp\n.cfi_def_cfa rsp, 8\nret\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCK: &str = "_RNvMNtNtNtNtCsjrHSEGnQ3l9_3std3sys4sync5mutex5futexNtB2_5Mutex14lock_contended";
    const PARK: &str = "_RNvNtNtCsjrHSEGnQ3l9_3std6thread9functions4park";
    const NOW: &str = "_RNvNtNtCsjrHSEGnQ3l9_3std6thread7current7current";

    #[test]
    fn names_of_several_toolchains() {
        assert_eq!(kind(LOCK), Some(Kind::Word));
        assert_eq!(
            kind("_ZN3std3sys4sync5mutex5futex5Mutex14lock_contended17h0123456789abcdefE"),
            Some(Kind::Word)
        );
        assert_eq!(kind(PARK), Some(Kind::Park));
        assert_eq!(kind("_RNvMs0_NtNtNtNtCsx_3std3sys4sync4once5futexNtB5_4Once4call"), Some(Kind::OnceCall));
        for other in ["_RNvMNtNtCsx_3std3sys4sync5mutex5futexNtB2_5Mutex4wake", NOW, "main", ""] {
            assert_eq!(kind(other), None, "{other}");
        }
    }

    #[test]
    fn a_stub_for_each() {
        let stubs = stubs([LOCK, "main", PARK, NOW].into_iter());
        assert_eq!(stubs.wrapped, [LOCK, PARK]);
        for name in [format!("__wrap_{LOCK}:"), format!("call __real_{PARK}@PLT"), format!("call {NOW}@PLT")]
        {
            assert!(stubs.assembly.contains(&name), "{name}");
        }
    }
}
