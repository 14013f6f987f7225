//! From a static library to one relocatable object that can be linked into any program.
//!
//! A static library of Rust can't be linked beside a Rust program (they both define `rust_eh_personality`), and its
//! `__interpose_X` must become the `X` that the program calls. So: everything is merged and what nothing leads to is
//! dropped; names are changed; all names but those that programs use become local.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Functions that stand in front of libc's are called this in the source.
const INTERPOSED: &str = "__interpose_";

/// What the compiler calls on its own and what must not be interposed is called this in the source.
const RAW: &str = "__seqcst_raw_";

/// Names of which programs use any.
const ENTRY_POINTS: [&str; 4] = ["__tsan_", "seqcst_", "__atomic_", INTERPOSED];

/// Interposed functions that std calls when it handles a panic, which ends the program anyway.
const PANICS_CALL: [&str; 7] = ["abort", "close", "free", "mmap64", "munmap", "read", "write"];

/// Assembly code that needs no executable stack says so.
const NO_STACK: &str = ".section .note.GNU-stack,\"\",@progbits";

/// Names in an object.
struct Names {
    defined: Vec<String>,
    undefined: Vec<String>,
}

/// Makes `runtime.o`, `runtime.list` and `empty.o` from the library.
pub fn make(library: &Path, out: &Path) -> Result<(), String> {
    let file = |name: &str| out.join(name);
    let lines = |name: &str, lines: Vec<String>| -> Result<PathBuf, String> {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        fs::write(file(name), text).map_err(|error| format!("{name}: {error}"))?;
        Ok(file(name))
    };

    // Once with everything, to see what there is. Bitcode in it confuses nm.
    let (all, plain) = (file("all.o"), file("plain.o"));
    merge(&[library], &["-Wl,--whole-archive"], &all)?;
    run(Command::new("objcopy")
        .args(["-R", ".llvmbc", "-R", ".llvmcmd", "--strip-debug"])
        .args([&all, &plain]))?;
    let defined = names(&plain)?.defined;
    let starting =
        |prefix: &str| defined.iter().filter_map(|name| name.strip_prefix(prefix)).collect::<Vec<_>>();
    let (interposed, raw) = (starting(INTERPOSED), starting(RAW));
    let entry = |name: &&String| ENTRY_POINTS.iter().any(|prefix| name.starts_with(prefix));
    let entries: Vec<&String> = defined.iter().filter(entry).collect();

    // Then only what is in use.
    let mut roots: Vec<String> = entries.iter().map(|name| format!("-u {name}")).collect();
    roots.extend(raw.iter().map(|name| format!("-u {RAW}{name}")));
    roots.push("--gc-sections -e __tsan_init".to_owned());
    let roots = lines("roots.txt", roots)?;
    let used = file("used.o");
    merge(&[&plain], &[&format!("-Wl,@{}", roots.display())], &used)?;
    let undefined = names(&used)?.undefined;

    // New names.
    let is_raw = |name: &&String| raw.contains(&name.as_str());
    let calls_itself = |name: &&String| {
        interposed.contains(&name.as_str()) && !is_raw(name) && !PANICS_CALL.contains(&name.as_str())
    };
    let own: Vec<&String> = undefined.iter().filter(calls_itself).collect();
    if !own.is_empty() {
        return Err(format!("it calls functions that it stands in front of: {own:?}"));
    }
    let mut renamed: Vec<String> =
        interposed.iter().map(|name| format!("{INTERPOSED}{name} {name}")).collect();
    renamed.extend(undefined.iter().filter(is_raw).map(|name| format!("{name} {RAW}{name}")));
    let renamed = lines("renamed.txt", renamed)?;
    let with_names = file("renamed.o");
    run(Command::new("objcopy").arg("--redefine-syms").arg(renamed).args([&used, &with_names]))?;

    // A second merge makes the new references find the definitions. Nothing unwinds: no need for libgcc's unwinder.
    let unwinder = undefined.iter().filter(|name| name.starts_with("_Unwind_"));
    let stubs = unwinder.flat_map(|name| [format!(".globl {name}"), format!("{name}:")]);
    let stubs = stubs.chain(["ud2".to_owned(), NO_STACK.to_owned()]).collect();
    let whole = file("whole.o");
    merge(&[&with_names, &lines("stubs.s", stubs)?], &[], &whole)?;

    // Only entry points stay visible; a program's own `malloc` goes before ours.
    let visible: Vec<String> =
        entries.iter().map(|name| name.strip_prefix(INTERPOSED).unwrap_or(name).to_owned()).collect();
    let kept = lines("visible.txt", visible.clone())?;
    let weak = lines("weak.txt", interposed.iter().map(ToString::to_string).collect())?;
    let mut last = Command::new("objcopy");
    last.arg("--keep-global-symbols").arg(kept).arg("--weaken-symbols").arg(weak);
    run(last.args(["-R", ".comment", "-R", ".note.gnu.property"]).arg(&whole).arg(file("runtime.o")))?;
    let list: Vec<String> = visible.iter().map(|name| format!("{name};")).collect();
    lines("runtime.list", vec!["{".to_owned(), list.join("\n"), "};".to_owned()])?;

    let nothing = lines("empty.s", vec![NO_STACK.to_owned()])?;
    run(Command::new("gcc").arg("-c").arg(nothing).arg("-o").arg(file("empty.o"))).map(drop)
}

/// Links relocatably. Section groups are resolved, since some linkers refuse what is left of them.
fn merge(inputs: &[&Path], flags: &[&str], output: &Path) -> Result<(), String> {
    let mut command = Command::new("gcc");
    command
        .args(["-r", "-nostdlib", "-Wl,--force-group-allocation"])
        .args(flags)
        .args(inputs)
        .arg("-o")
        .arg(output);
    run(&mut command).map(drop)
}

/// The global names in an object, sorted.
fn names(object: &Path) -> Result<Names, String> {
    let text = run(Command::new("nm").args(["--format=posix", "--extern-only"]).arg(object))?;
    let mut names = Names { defined: Vec::new(), undefined: Vec::new() };
    for line in text.lines() {
        let mut words = line.split_whitespace();
        match (words.next(), words.next()) {
            (Some(name), Some("U" | "w" | "v")) => names.undefined.push(name.to_owned()),
            (Some(name), Some(_)) => names.defined.push(name.to_owned()),
            _ => {}
        }
    }
    names.defined.sort();
    names.undefined.sort();
    Ok(names)
}

/// Runs a command that must succeed; gives what it prints.
pub fn run(command: &mut Command) -> Result<String, String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => format!("`{program}` is not installed (gcc and binutils are needed)"),
        _ => format!("{program}: {error}"),
    })?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("`{program}` failed ({}):\n{said}", output.status));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
