//! Lines of source, if the files can be found from where the test runs.

use std::path::{Path, PathBuf};

/// A line of a file whose name is relative to where the compiler ran.
pub fn line(file: &str, number: u32) -> Option<String> {
    let text = std::fs::read_to_string(find(file)?).ok()?;
    text.lines().nth(number.checked_sub(1)? as usize).map(str::to_owned)
}

/// Tests run in the directory of their package, compilers in the one of the workspace: it is further up.
fn find(file: &str) -> Option<PathBuf> {
    let file = Path::new(file);
    let here = std::env::current_dir().ok()?;
    here.ancestors().map(|folder| folder.join(file)).find(|path| path.is_file())
}
