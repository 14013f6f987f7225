//! Sources from package registries: downloaded once, checked, unpacked.

use super::folder;
use crate::Outcome;
use crate::cargo::run as must;
use crate::table::doing;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A file of a registry.
pub struct Source {
    /// Where it is.
    pub url: String,
    /// SHA-256 of the file.
    pub sha256: String,
}

impl Source {
    /// A crate.
    pub fn crates_io(name: &str, version: &str, sha256: &str) -> Source {
        let url = format!("https://static.crates.io/crates/{name}/{name}-{version}.crate");
        Source { url, sha256: sha256.to_owned() }
    }

    /// A file of Debian's archive.
    pub fn debian(path: &str, sha256: &str) -> Source {
        let url = format!("http://deb.debian.org/debian/pool/main/{path}");
        Source { url, sha256: sha256.to_owned() }
    }

    /// The directory that it is unpacked into.
    pub fn unpacked(&self) -> Outcome<PathBuf> {
        let name = self.url.rsplit('/').next().unwrap_or_default();
        let folder = folder("sources")?;
        let (file, unpacked) = (folder.join(name), folder.join(format!("{name}.unpacked")));
        if unpacked.is_dir() {
            return Ok(unpacked);
        }
        doing(&format!("fetching {name} …"));
        let mut curl = Command::new("curl");
        must(
            curl.args(["--silent", "--show-error", "--fail", "--location", "--output"])
                .arg(&file)
                .arg(&self.url),
        )?;
        self.check(&file)?;
        // Beside first: half of it must not be taken for the whole.
        let beside = folder.join(format!("{name}.part"));
        let _ = std::fs::remove_dir_all(&beside);
        std::fs::create_dir_all(&beside).map_err(|error| format!("{}: {error}", beside.display()))?;
        if name.ends_with(".deb") {
            must(Command::new("dpkg-deb").arg("--extract").arg(&file).arg(&beside))?;
        } else {
            must(
                Command::new("tar").arg("--extract").arg("--file").arg(&file).arg("--directory").arg(&beside),
            )?;
        }
        std::fs::rename(&beside, &unpacked).map_err(|error| format!("{}: {error}", unpacked.display()))?;
        Ok(unpacked)
    }

    /// The only directory in it, which most archives have.
    pub fn root(&self) -> Outcome<PathBuf> {
        let unpacked = self.unpacked()?;
        let entries =
            std::fs::read_dir(&unpacked).map_err(|error| format!("{}: {error}", unpacked.display()))?;
        let only = entries.flatten().map(|entry| entry.path()).find(|path| path.is_dir());
        only.ok_or_else(|| format!("{}: nothing in it", unpacked.display()))
    }

    fn check(&self, file: &Path) -> Outcome {
        let output =
            Command::new("sha256sum").arg(file).output().map_err(|error| format!("sha256sum: {error}"))?;
        let found = String::from_utf8_lossy(&output.stdout);
        if found.starts_with(&self.sha256) {
            return Ok(());
        }
        let _ = std::fs::remove_file(file);
        Err(format!("{}: its SHA-256 is not {}, but {}", self.url, self.sha256, found.trim_end()))
    }
}
