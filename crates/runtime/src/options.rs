//! `SEQCST_OPTIONS="key=value:key=value"`: one table says which options there are, their defaults and what they mean.
//!
//! Read when first needed, because the runtime starts before libc has set `environ`. A mistake ends the program with
//! exit code 2 before it has done anything: options that are silently ignored are worse.

use crate::sys;
use core::fmt::Write;
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};
use seqcst_model::Model;

/// All options.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    /// The exit code after a report.
    pub exitcode: i32,
    /// Where reports go: `stderr`, `stdout`, or the beginning of a file's name.
    pub log_path: String,
    /// End the program at the first report.
    pub halt_on_error: bool,
    /// A file with suppressions, or empty.
    pub suppressions: String,
    /// How many atomic events per thread are remembered to explain reports.
    pub history: usize,
    /// Mebibytes of freed memory that are kept for a while.
    pub quarantine_mb: usize,
    /// Look for data races.
    pub races: bool,
    /// What to do about waits that can only take longer.
    pub waits: Waits,
    /// The memory model.
    pub model: Model,
    /// A file for reports as JSON, or empty.
    pub json: String,
    /// How many distinct reports are printed.
    pub max_reports: usize,
    /// 1: all frames, and what the run cost.
    pub verbosity: u32,
    /// List the options.
    pub help: bool,
}

/// What to do about benign waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Waits {
    /// Count them.
    Count,
    /// Report them like other violations.
    Report,
}

struct Entry {
    name: &'static str,
    default: &'static str,
    meaning: &'static str,
    /// Says what it expects if the value doesn't fit.
    set: fn(&mut Options, &str) -> Result<(), &'static str>,
}

const TABLE: &[Entry] = &[
    Entry {
        name: "exitcode",
        default: "66",
        meaning: "exit code of the program after a report; 0 keeps the program's own",
        set: |o, v| number(v, 0, 255, "a number from 0 to 255").map(|n| o.exitcode = n as i32),
    },
    Entry {
        name: "halt_on_error",
        default: "0",
        meaning: "end the program at the first report",
        set: |o, v| flag(v).map(|on| o.halt_on_error = on),
    },
    Entry {
        name: "help",
        default: "0",
        meaning: "list the options and end",
        set: |o, v| flag(v).map(|on| o.help = on),
    },
    Entry {
        name: "history",
        default: "1024",
        meaning: "atomic events per thread that are remembered to explain reports",
        set: |o, v| number(v, 0, 1 << 20, "a number from 0 to 1048576").map(|n| o.history = n as usize),
    },
    Entry {
        name: "json",
        default: "",
        meaning: "write the reports as JSON to this file; a directory, or %p in the name: one file per process",
        set: |o, v| text(v).map(|v| o.json = v),
    },
    Entry {
        name: "log_path",
        default: "stderr",
        meaning: "where reports go: stderr, stdout, or FILE for FILE.PID",
        set: |o, v| if v.is_empty() { Err("a path") } else { text(v).map(|v| o.log_path = v) },
    },
    Entry {
        name: "max_reports",
        default: "100",
        meaning: "distinct reports that are printed; the others are counted",
        set: |o, v| number(v, 0, u32::MAX.into(), "a number").map(|n| o.max_reports = n as usize),
    },
    Entry {
        name: "model",
        default: "rc11",
        meaning: "memory model: rc11, rc20 (SC accesses are fences), or ra (all is release/acquire)",
        set: |o, v| {
            let fits = |model: &Model| matches!(model, Model::Rc11 | Model::Rc20 | Model::Ra);
            o.model = Model::named(v).filter(fits).ok_or("rc11, rc20 or ra")?;
            Ok(())
        },
    },
    Entry {
        name: "quarantine_mb",
        default: "2",
        meaning: "MiB of freed memory that is not used again for a while, to find uses after free; 0: none",
        set: |o, v| number(v, 0, 1 << 20, "a number from 0 to 1048576").map(|n| o.quarantine_mb = n as usize),
    },
    Entry {
        name: "races",
        default: "1",
        meaning: "look for data races on non-atomic accesses, and uses after free",
        set: |o, v| flag(v).map(|on| o.races = on),
    },
    Entry {
        name: "suppressions",
        default: "",
        meaning: "file with lines type:pattern for reports that are not wanted (stale, race, misuse, wait, all)",
        set: |o, v| text(v).map(|v| o.suppressions = v),
    },
    Entry {
        name: "verbosity",
        default: "0",
        meaning: "1: show all frames, also those inside of atomics, and what the run cost",
        set: |o, v| number(v, 0, 9, "a number from 0 to 9").map(|n| o.verbosity = n as u32),
    },
    Entry {
        name: "waits",
        default: "count",
        meaning: "loops that could only wait longer: count, or report",
        set: |o, v| {
            o.waits = match v {
                "count" => Waits::Count,
                "report" => Waits::Report,
                _ => return Err("count or report"),
            };
            Ok(())
        },
    },
];

fn flag(value: &str) -> Result<bool, &'static str> {
    match value {
        "1" | "true" | "yes" | "on" => Ok(true),
        "0" | "false" | "no" | "off" => Ok(false),
        _ => Err("0 or 1"),
    }
}

fn number(value: &str, least: u64, most: u64, expected: &'static str) -> Result<u64, &'static str> {
    value.parse().ok().filter(|n| (least..=most).contains(n)).ok_or(expected)
}

fn text(value: &str) -> Result<String, &'static str> {
    if value.contains('\0') { Err("text without zero bytes") } else { Ok(value.to_owned()) }
}

impl Default for Options {
    fn default() -> Self {
        let mut options = Options {
            exitcode: 0,
            log_path: String::new(),
            halt_on_error: false,
            suppressions: String::new(),
            history: 0,
            quarantine_mb: 0,
            races: false,
            waits: Waits::Count,
            model: Model::Rc11,
            json: String::new(),
            max_reports: 0,
            verbosity: 0,
            help: false,
        };
        for entry in TABLE {
            let _ = (entry.set)(&mut options, entry.default);
        }
        options
    }
}

/// The options of a text, or what is wrong with it.
pub fn parse(text: &str) -> Result<Options, String> {
    let mut options = Options::default();
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches(is_separator);
        if rest.is_empty() {
            return Ok(options);
        }
        let end = rest.find(|c| c == '=' || is_separator(c)).unwrap_or(rest.len());
        let name = &rest[..end];
        let Some(entry) = TABLE.iter().find(|entry| entry.name == name) else {
            let names: Vec<_> = TABLE.iter().map(|entry| entry.name).collect();
            return Err(format!("unknown option `{name}`; there are {}", names.join(", ")));
        };
        let Some(after) = rest[end..].strip_prefix('=') else {
            return Err(format!("option `{name}` has no value; write {name}=..."));
        };
        let value;
        (value, rest) =
            split_value(after).ok_or_else(|| format!("option `{name}`: a quote is not closed"))?;
        (entry.set)(&mut options, value)
            .map_err(|expected| format!("option `{name}` is `{value}`, expected {expected}"))?;
    }
}

fn is_separator(c: char) -> bool {
    matches!(c, ':' | ',') || c.is_ascii_whitespace()
}

/// A value, in quotes if it contains separators, and what comes after it. None if the quote isn't closed.
fn split_value(text: &str) -> Option<(&str, &str)> {
    if let Some(quote) = text.chars().next().filter(|c| matches!(c, '"' | '\'')) {
        return text[1..].split_once(quote);
    }
    Some(text.split_at(text.find(is_separator).unwrap_or(text.len())))
}

/// The table for `help=1`.
pub fn help() -> String {
    let mut out =
        "SEQCST_OPTIONS=\"key=value:key=value\", separated by colons, commas or spaces:\n".to_owned();
    for Entry { name, default, meaning, .. } in TABLE {
        let default = if default.is_empty() { "-" } else { default };
        let _ = writeln!(out, "  {name:<14} {default:<8} {meaning}");
    }
    out
}

static OPTIONS: AtomicPtr<Options> = AtomicPtr::new(ptr::null_mut());

/// The options of this process. The first call reads them; it ends the process if they are wrong.
#[inline]
pub fn get() -> &'static Options {
    let options = OPTIONS.load(Ordering::Acquire);
    // SAFETY: never changed or freed once it is there.
    if options.is_null() { read() } else { unsafe { &*options } }
}

#[cold]
fn read() -> &'static Options {
    let text = variable("SEQCST_OPTIONS").unwrap_or_default();
    let options = parse(&text).unwrap_or_else(|problem| {
        let _ = sys::write_all(2, format!("seqcst: SEQCST_OPTIONS: {problem}\n").as_bytes());
        sys::exit(2)
    });
    if options.help {
        let _ = sys::write_all(2, help().as_bytes());
        sys::exit(0);
    }
    let options = Box::into_raw(Box::new(options));
    match OPTIONS.compare_exchange(ptr::null_mut(), options, Ordering::AcqRel, Ordering::Acquire) {
        // SAFETY: from now on never changed or freed.
        Ok(_) => unsafe { &*options },
        Err(first) => {
            // SAFETY: nobody has seen ours; the first is never changed or freed.
            unsafe {
                drop(Box::from_raw(options));
                &*first
            }
        }
    }
}

/// An environment variable, as the process was started with it.
pub fn variable(name: &str) -> Option<String> {
    let environment = sys::read_file(c"/proc/self/environ").unwrap_or_else(|_| inherited());
    environment.split(|&byte| byte == 0).find_map(|entry| {
        let value = entry.strip_prefix(name.as_bytes())?.strip_prefix(b"=")?;
        Some(String::from_utf8_lossy(value).into_owned())
    })
}

/// Libc's copy of the environment, where `/proc` can't be read.
fn inherited() -> Vec<u8> {
    unsafe extern "C" {
        static environ: *const *const core::ffi::c_char;
    }
    let mut copy = Vec::new();
    // SAFETY: an array of texts that ends with a null pointer, or null before libc is initialised.
    unsafe {
        let mut entry = environ;
        while !entry.is_null() && !(*entry).is_null() {
            copy.extend_from_slice(core::ffi::CStr::from_ptr(*entry).to_bytes_with_nul());
            entry = entry.add(1);
        }
    }
    copy
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults() {
        let options = parse("").unwrap();
        assert_eq!(options, Options::default());
        assert_eq!((options.exitcode, options.history, options.races), (66, 1024, true));
        assert_eq!((options.log_path.as_str(), options.waits), ("stderr", Waits::Count));
        // Every default is accepted as a value.
        for entry in TABLE {
            assert!((entry.set)(&mut Options::default(), entry.default).is_ok(), "{}", entry.name);
        }
    }

    #[test]
    fn all_separators_and_quotes() {
        let options =
            parse("exitcode=3:races=0,waits=report model=ra  json=\"a:b, c\":log_path='x'").unwrap();
        assert_eq!((options.exitcode, options.races, options.waits), (3, false, Waits::Report));
        assert_eq!(
            (options.model, options.json.as_str(), options.log_path.as_str()),
            (Model::Ra, "a:b, c", "x")
        );
        assert!(parse("::help=1,").unwrap().help);
    }

    #[test]
    fn mistakes_name_the_option() {
        let names = "exitcode, halt_on_error, help, history, json, log_path, max_reports, model, quarantine_mb, races, suppressions, \
                     verbosity, waits";
        assert_eq!(parse("race=0").unwrap_err(), format!("unknown option `race`; there are {names}"));
        assert_eq!(parse("races=2").unwrap_err(), "option `races` is `2`, expected 0 or 1");
        assert_eq!(parse("races").unwrap_err(), "option `races` has no value; write races=...");
        assert_eq!(
            parse("exitcode=256").unwrap_err(),
            "option `exitcode` is `256`, expected a number from 0 to 255"
        );
        assert_eq!(parse("json='a").unwrap_err(), "option `json`: a quote is not closed");
        assert_eq!(parse("waits=").unwrap_err(), "option `waits` is ``, expected count or report");
    }

    #[test]
    fn help_lists_everything() {
        let help = help();
        assert!(TABLE.iter().all(|entry| help.contains(entry.name)));
        assert!(help.lines().all(|line| line.len() <= 120), "{help}");
    }

    #[test]
    fn variables() {
        assert_eq!(variable("PATH"), std::env::var("PATH").ok());
        assert_eq!(variable("NO_SUCH_VARIABLE_HERE"), None);
        assert!(inherited().windows(5).any(|w| w == b"PATH="));
    }
}
