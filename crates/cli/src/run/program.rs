//! The program to run: where it is, and whether it was instrumented.

use object::{Object, ObjectSymbol};
use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Every instrumented program exports this name.
const MARK: &str = "seqcst_runtime_version";

/// Where a program is: a path, or a name that is looked for in `PATH`.
pub fn find(name: &OsStr) -> Result<PathBuf, String> {
    let shown = name.to_string_lossy();
    if !shown.contains('/') {
        let folders = std::env::var_os("PATH").unwrap_or_default();
        let found =
            std::env::split_paths(&folders).map(|folder| folder.join(name)).find(|path| can_run(path));
        return found.ok_or_else(|| match Path::new(name).metadata() {
            Ok(data) if data.is_dir() => format!("{shown}: this is a directory"),
            Ok(_) => format!("{shown}: not found in PATH; do you mean ./{shown}?"),
            Err(_) => format!("{shown}: no such program"),
        });
    }
    let path = PathBuf::from(name);
    match path.metadata() {
        Err(error) => Err(format!("{shown}: {error}")),
        Ok(data) if data.is_dir() => Err(format!("{shown}: this is a directory")),
        Ok(_) if !can_run(&path) => Err(format!("{shown}: not an executable")),
        Ok(_) => Ok(path),
    }
}

fn can_run(path: &Path) -> bool {
    path.metadata().is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

/// Says so if a program is not instrumented.
pub fn check(path: &Path) -> Result<(), String> {
    let shown = path.display();
    let data = std::fs::read(path).map_err(|error| format!("{shown}: {error}"))?;
    let how = "Build it with `seqcst cc`, `seqcst c++` or `cargo seqcst build`.";
    let Ok(file) = object::File::parse(&*data) else {
        return Err(format!("{shown} is not an executable for this machine (a script?). {how}"));
    };
    let has = |name: &str| {
        let mut symbols = file.dynamic_symbols().chain(file.symbols());
        symbols.any(|symbol| symbol.name() == Ok(name))
    };
    if has(MARK) {
        Ok(())
    } else if has("__tsan_init") {
        Err(format!("{shown} was built for ThreadSanitizer (-fsanitize=thread), not for seqcst. {how}"))
    } else {
        Err(format!("{shown} was not instrumented: there is nothing to watch. {how}"))
    }
}
