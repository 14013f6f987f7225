//! The environment in which cargo instruments a program.
//!
//! Everything goes through variables, so that it also reaches cargo when something else calls it (nextest, say). Flags
//! for rustc are added to those that are in force: cargo takes them from exactly one of four places, and that place
//! must not change.

use super::TARGET;
use super::config::Configuration;
use crate::compile::{atomics_only, runtime};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What decides about the environment.
pub struct Settings {
    /// Instrument atomic accesses only.
    pub atomics_only: bool,
    /// The profile that the user named.
    pub profile: Option<String>,
    /// Where cargo puts what it builds: a directory of our own.
    pub target_folder: PathBuf,
    /// What the linker needs to watch the standard library.
    pub slow_paths: PathBuf,
    /// What cargo's configuration files say.
    pub configuration: Configuration,
}

/// Instruments after optimisation, with no `cfg` that code could see: the code under test is the code that ships.
const INSTRUMENT: &str = "-Cpasses=forceattrs,tsan-module,tsan -Cllvm-args=-force-attribute=sanitize_thread";

/// Without the attribute only atomics are instrumented (and function entries, which are switched off).
const INSTRUMENT_ATOMICS: &str = "-Cpasses=tsan-module,tsan -Cllvm-args=-tsan-instrument-func-entry-exit=0";

/// Reports need names of files and lines in the executable itself.
const DEBUG_INFORMATION: &str = "-Cdebuginfo=line-tables-only -Csplit-debuginfo=off -Cstrip=none";

/// Separates flags in cargo's encoded variables.
const SEPARATOR: &str = "\x1f";

type Variables = Vec<(String, OsString)>;

impl Settings {
    /// The variables to set, given those that are set.
    pub fn environment(&self, get: impl Fn(&str) -> Option<OsString>) -> Result<Variables, String> {
        let triple = TARGET.to_uppercase().replace('-', "_");
        let ours = self.ours(&beside("seqcst-link-cc")?)?;
        let (mut flags, linker) = self.flags("RUSTFLAGS", &ours, &triple, &get);
        let (documentation, _) = self.flags("RUSTDOCFLAGS", &ours, &triple, &get);
        let mut variables: Variables = Vec::new();
        let mut set = |name: &str, value: OsString| variables.push((name.to_owned(), value));
        set("CARGO_BUILD_TARGET", TARGET.into());
        set("CARGO_TARGET_DIR", self.target_folder.clone().into());

        // The linker that rustc calls is ours, which calls the user's.
        let linker_variable = format!("CARGO_TARGET_{triple}_LINKER");
        let users = linker.map(OsString::from).or_else(|| get(&linker_variable));
        let users = users.or_else(|| self.configuration.linker.clone().map(OsString::from));
        set("SEQCST_LINKER", users.unwrap_or_else(|| "cc".into()));
        set("SEQCST_SLOW_PATHS", self.slow_paths.clone().into());

        // C and C++ in dependencies: crates `cc` and `cmake` take these.
        for (variable, program, choice) in
            [("CC", "seqcst-cc", "SEQCST_CC"), ("CXX", "seqcst-cxx", "SEQCST_CXX")]
        {
            let name = format!("{variable}_{}", TARGET.replace('-', "_"));
            if let Some(users) = get(&name).filter(|_| get(choice).is_none()) {
                set(choice, users);
            }
            set(&name, beside(program)?.into());
        }
        // gcc can't: then C in dependencies is instrumented as always.
        if self.atomics_only && atomics_only() {
            set("SEQCST_ATOMICS_ONLY", "1".into());
        }

        // Link-time optimisation would carry the standard library's locks into the program, where nobody sees them.
        let named = self.profile.as_deref().map(|name| name.to_uppercase().replace('-', "_"));
        for profile in ["DEV", "RELEASE", "TEST", "BENCH"].into_iter().chain(named.as_deref()) {
            set(&format!("CARGO_PROFILE_{profile}_LTO"), "off".into());
        }
        flags.extend(documentation);
        variables.extend(flags);
        Ok(variables)
    }

    /// Flags for rustc and rustdoc, separated by spaces.
    fn ours(&self, linker: &Path) -> Result<String, String> {
        let instrument = if self.atomics_only { INSTRUMENT_ATOMICS } else { INSTRUMENT };
        // The runtime's version is among the flags, so that cargo builds everything anew when it changes.
        let version = format!("--cfg seqcst --cfg seqcst_runtime=\"{}\"", runtime::HASH);
        // A flag and not one of cargo's variables, which would be valid for build scripts, too.
        let linker = linker.to_str().filter(|path| !path.contains(char::is_whitespace));
        let linker = linker.ok_or("seqcst must be installed at a path without spaces")?;
        Ok(format!("{instrument} {DEBUG_INFORMATION} {version} -Clinker={linker}"))
    }

    /// The variables that carry flags for rustc or rustdoc, and the linker that the user's flags name.
    fn flags(
        &self,
        kind: &str,
        ours: &str,
        triple: &str,
        get: &impl Fn(&str) -> Option<OsString>,
    ) -> (Variables, Option<String>) {
        let text = |name: &str| get(name).map(|value| value.to_string_lossy().into_owned());
        let encoded = format!("CARGO_ENCODED_{kind}");
        let split = |text: String, at: &str| -> Vec<String> {
            text.split(at).filter(|flag| !flag.is_empty()).map(str::to_owned).collect()
        };
        let direct = text(&encoded)
            .map(|value| split(value, SEPARATOR))
            .or_else(|| text(kind).map(|value| split(value, " ")));
        if let Some(users) = direct {
            let (mut flags, linker) = without_linker(users);
            flags.extend(split(ours.to_owned(), " "));
            return (vec![(encoded, flags.join(SEPARATOR).into())], linker);
        }
        let for_target = format!("CARGO_TARGET_{triple}_{kind}");
        let in_files = kind == "RUSTFLAGS" && self.configuration.has_target_flags;
        let name =
            if in_files || get(&for_target).is_some() { for_target } else { format!("CARGO_BUILD_{kind}") };
        let (users, linker) = without_linker(split(text(&name).unwrap_or_default(), " "));
        let all = if users.is_empty() { ours.to_owned() } else { format!("{} {ours}", users.join(" ")) };
        (vec![(name, all.into())], linker)
    }
}

/// Flags without `-Clinker=…`, which would go before ours; and that linker.
fn without_linker(flags: Vec<String>) -> (Vec<String>, Option<String>) {
    let (mut rest, mut linker) = (Vec::new(), None);
    let mut flags = flags.into_iter().peekable();
    while let Some(flag) = flags.next() {
        let (value, separate) = match flag.as_str() {
            "-C" | "--codegen" => (flags.peek().cloned(), true),
            _ => (flag.strip_prefix("-C").or(flag.strip_prefix("--codegen=")).map(str::to_owned), false),
        };
        match value.as_deref().and_then(|value| value.strip_prefix("linker=")) {
            Some(name) => {
                linker = Some(name.to_owned());
                if separate {
                    flags.next();
                }
            }
            None => rest.push(flag),
        }
    }
    (rest, linker)
}

/// An executable that is installed beside this one.
fn beside(name: &str) -> Result<PathBuf, String> {
    let own =
        std::env::current_exe().map_err(|error| format!("seqcst does not know where it is: {error}"))?;
    let path = own.with_file_name(name);
    if path.is_file() {
        Ok(path)
    } else {
        Err(format!("{} is missing: it belongs beside seqcst", path.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flags(settings: &Settings, variables: &[(&str, &str)]) -> (Variables, Option<String>) {
        let get =
            |name: &str| variables.iter().find(|(n, _)| *n == name).map(|(_, value)| OsString::from(value));
        let ours = settings.ours(Path::new("/bin/seqcst-link-cc")).expect("a path without spaces");
        settings.flags("RUSTFLAGS", &ours, "X86_64_UNKNOWN_LINUX_GNU", &get)
    }

    fn settings(has_target_flags: bool) -> Settings {
        Settings {
            atomics_only: false,
            profile: None,
            target_folder: PathBuf::new(),
            slow_paths: PathBuf::new(),
            configuration: Configuration { linker: None, has_target_flags },
        }
    }

    fn name(settings: &Settings, variables: &[(&str, &str)]) -> String {
        flags(settings, variables).0.remove(0).0
    }

    #[test]
    fn flags_go_where_the_users_flags_are() {
        let target = "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUSTFLAGS";
        assert_eq!(name(&settings(false), &[]), "CARGO_BUILD_RUSTFLAGS");
        assert_eq!(name(&settings(true), &[]), target);
        assert_eq!(name(&settings(false), &[(target, "-Copt-level=1")]), target);
        assert_eq!(name(&settings(true), &[("RUSTFLAGS", "")]), "CARGO_ENCODED_RUSTFLAGS");
    }

    #[test]
    fn flags_of_the_user_come_first() {
        let (variables, linker) =
            flags(&settings(false), &[("RUSTFLAGS", "--cfg a -C linker=clang -Copt-level=1")]);
        let value = variables[0].1.to_string_lossy().into_owned();
        assert!(value.starts_with("--cfg\x1fa\x1f-Copt-level=1\x1f-Cpasses="), "{value}");
        assert_eq!(linker.as_deref(), Some("clang"));
    }
}
