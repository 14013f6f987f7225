//! The little that must be known of cargo's configuration files: cargo joins flags in them with flags from variables, but
//! looks at one place only, and a linker named there is replaced by ours.

use super::TARGET;
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// What the files say.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Configuration {
    /// The linker for our target.
    pub linker: Option<String>,
    /// Flags for rustc in `[target.…]`, which hide those in `[build]`.
    pub has_target_flags: bool,
}

/// Reads what applies to the current directory. Files that cargo would refuse are left for it to complain about.
pub fn read() -> Configuration {
    let mut configuration = Configuration::default();
    // The nearest first: it wins.
    for (folder, text) in files() {
        if let Ok(table) = text.parse::<Table>() {
            configuration.add(&table, &folder);
        }
    }
    configuration
}

impl Configuration {
    fn add(&mut self, table: &Table, folder: &Path) {
        let Some(targets) = table.get("target").and_then(Value::as_table) else { return };
        let ours = |name: &str| name == TARGET || name.starts_with("cfg(");
        for target in targets.iter().filter(|(name, _)| ours(name)).filter_map(|(_, value)| value.as_table())
        {
            self.has_target_flags |= target.contains_key("rustflags");
            if let (None, Some(linker)) = (&self.linker, target.get("linker").and_then(Value::as_str)) {
                // With a slash it is a path, which starts at the directory that has `.cargo`.
                let path = folder.join(linker);
                let linker = if linker.contains('/') {
                    path.to_string_lossy().into_owned()
                } else {
                    linker.to_owned()
                };
                self.linker = Some(linker);
            }
        }
    }
}

/// Configuration files with the directories that their paths start from.
fn files() -> Vec<(PathBuf, String)> {
    let here = std::env::current_dir().unwrap_or_default();
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cargo"));
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from).or_else(home);
    let above = here.ancestors().map(|folder| folder.join(".cargo"));
    let read = |folder: PathBuf| {
        let text = ["config", "config.toml"]
            .iter()
            .find_map(|name| std::fs::read_to_string(folder.join(name)).ok())?;
        Some((folder.parent().map(Path::to_owned).unwrap_or_default(), text))
    };
    above.chain(home).filter_map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn configuration(text: &str) -> Configuration {
        let mut configuration = Configuration::default();
        configuration.add(&text.parse().expect("TOML"), Path::new("/project"));
        configuration
    }

    #[test]
    fn targets() {
        let none = configuration(
            "[build]\nrustflags = ['-Copt-level=1']\n[target.wasm32-wasip1]\nrustflags = ['x']",
        );
        assert_eq!(none, Configuration::default());
        assert!(configuration("[target.'cfg(unix)']\nrustflags = 'x'").has_target_flags);
        let ours = configuration("[target.x86_64-unknown-linux-gnu]\nlinker = 'clang'");
        assert_eq!(ours.linker.as_deref(), Some("clang"));
        let path = configuration("[target.x86_64-unknown-linux-gnu]\nlinker = 'tools/ld.sh'");
        assert_eq!(path.linker.as_deref(), Some("/project/tools/ld.sh"));
    }
}
