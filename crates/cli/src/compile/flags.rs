//! What is added to a compiler's command line.
//!
//! Both compilers instrument for ThreadSanitizer, whose runtime must not be linked. clang has a flag for that. gcc has
//! none and takes an object and a library of certain names: it finds empty ones in a directory of ours.

use super::arguments::{Conflict, Job, Stage};
use super::detect::Family;
use super::runtime::Files;
use std::ffi::OsString;

/// What the user chose.
pub struct Settings {
    /// Instrument atomic accesses only.
    pub atomics_only: bool,
    /// Debug information, unless the command line says otherwise.
    pub debug: bool,
}

/// Says what the compiler can't do, if so.
pub fn possible(family: Family, settings: &Settings) -> Result<(), String> {
    if settings.atomics_only && family == Family::Gcc {
        let instead = "install clang, or name it with SEQCST_CC and SEQCST_CXX";
        return Err(format!("gcc can't instrument atomics only: {instead}"));
    }
    Ok(())
}

/// Says why a command can't be done, if so.
pub fn refuse(job: &Job) -> Result<(), String> {
    match &job.conflict {
        None => Ok(()),
        Some(Conflict::Static(flag)) => Err(format!(
            "{flag}: static executables are not supported, because the runtime stands in front of the C library; \
             leave {flag} out (static libraries of your own are fine)"
        )),
        Some(Conflict::Sanitizer(flag)) => Err(format!(
            "{flag}: that sanitizer and seqcst can't watch one program together; leave {flag} out"
        )),
        Some(Conflict::Machine(flag)) => {
            Err(format!("{flag}: seqcst instruments programs for x86-64 Linux only"))
        }
    }
}

/// What gcc writes out in place when it knows the size, after it has instrumented: then nobody would see these writes.
/// As calls they are seen. (clang instruments them where they are. Those that only read may be constant expressions.)
const CALLS: [&str; 9] =
    ["memcpy", "memmove", "memset", "mempcpy", "strcpy", "stpcpy", "strncpy", "strcat", "strncat"];

/// Flags before the user's own, which may override them.
pub fn before(family: Family, settings: &Settings, files: &Files) -> Vec<OsString> {
    let mut flags: Vec<OsString> = Vec::new();
    let mut add = |words: &[&str]| flags.extend(words.iter().map(OsString::from));
    match family {
        Family::Clang => {
            // Not every flag is of use to every command: no warnings about that.
            add(&["--start-no-unused-arguments", "-fsanitize=thread", "-fno-sanitize-link-runtime"]);
            // clang makes vectors before it instruments, and leaves accesses to more than 16 bytes out.
            add(&["-mprefer-vector-width=128", "-mllvm", "-vectorize-slp=false"]);
            if settings.atomics_only {
                add(&["-fno-sanitize-thread-memory-access", "-fno-sanitize-thread-func-entry-exit"]);
            }
        }
        Family::Gcc => {
            // The code under test is the code that ships: it does not see a sanitizer.
            add(&["-fsanitize=thread", "-Wno-tsan", "-U__SANITIZE_THREAD__"]);
            CALLS.iter().for_each(|name| add(&[&format!("-fno-builtin-{name}")]));
        }
    }
    if settings.debug {
        add(&["-g"]);
    }
    // After all other directories: a program may have its own copy of `seqcst.h`.
    flags.extend(["-idirafter".into(), files.include.clone().into()]);
    match family {
        Family::Clang => flags.push("--end-no-unused-arguments".into()),
        Family::Gcc => {
            let mut folder = OsString::from("-B");
            folder.push(&files.gcc);
            flags.push(folder);
        }
    }
    flags
}

/// Flags after the user's own.
pub fn after(job: &Job, files: &Files) -> Vec<OsString> {
    let linker = |words: &[OsString]| -> Vec<OsString> {
        words.iter().flat_map(|word| [OsString::from("-Xlinker"), word.clone()]).collect()
    };
    match job.stage {
        Stage::Executable if !job.freestanding => {
            // Libraries loaded later find the runtime in the executable.
            let mut list = OsString::from("--dynamic-list=");
            list.push(&files.list);
            linker(&[files.object.clone().into(), list])
        }
        // What instrumented code calls is in the executable, so it can't be defined here.
        Stage::Shared if job.no_undefined => linker(&["--unresolved-symbols=ignore-all".into()]),
        _ => Vec::new(),
    }
}
