//! The runtime, unpacked from this executable into files that a linker can read.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

const OBJECT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/runtime.o"));
const LIST: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/runtime.list"));
const HEADER: &[u8] = include_bytes!("../../../runtime/include/seqcst.h");
const EMPTY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/empty.o"));
/// A name for this version of the runtime, made of its contents.
pub const HASH: &str = env!("SEQCST_RUNTIME_HASH");

/// Files of the runtime.
pub struct Files {
    /// Everything for this version of the runtime; other things made for it may be kept here, too.
    pub folder: PathBuf,
    /// The runtime, a relocatable object.
    pub object: PathBuf,
    /// The names it exports, as a linker's dynamic list.
    pub list: PathBuf,
    /// A directory with `seqcst.h`.
    pub include: PathBuf,
    /// A directory with empty files in place of gcc's own runtime.
    pub gcc: PathBuf,
}

/// The files, written if they aren't there yet.
pub fn files() -> Result<Files, String> {
    if OBJECT.is_empty() {
        return Err("seqcst was built without its runtime, which exists for x86-64 Linux only".to_owned());
    }
    let folder = cache()?.join(HASH);
    if !folder.is_dir() {
        make_folder(&folder, unpack)?;
    }
    // gcc wants a slash at the end.
    let gcc = folder.join("gcc/");
    let include = folder.join("include");
    Ok(Files { object: folder.join("runtime.o"), list: folder.join("runtime.list"), include, gcc, folder })
}

fn unpack(folder: &Path) -> Result<(), String> {
    let files: [(&str, &[u8]); 5] = [
        ("runtime.o", OBJECT),
        ("runtime.list", LIST),
        ("include/seqcst.h", HEADER),
        ("gcc/libtsan_preinit.o", EMPTY),
        ("gcc/libtsan.a", b"!<arch>\n"),
    ];
    let write = |(name, bytes): &(&str, &[u8])| fs::write(folder.join(name), bytes);
    let folders = ["include", "gcc"].iter().try_for_each(|name| fs::create_dir(folder.join(name)));
    let made = folders.and_then(|()| files.iter().try_for_each(write));
    made.map_err(|error| format!("{}: cannot be written: {error}", folder.display()))
}

/// Makes a directory and what is in it, beside its place first, so that nobody sees half of it.
pub fn make_folder(folder: &Path, fill: impl FnOnce(&Path) -> Result<(), String>) -> Result<(), String> {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let beside = folder.with_file_name(format!(".{name}.{}", std::process::id()));
    let bad = |error: io::Error| format!("{}: cannot be written: {error}", folder.display());
    let made = fs::create_dir(&beside).map_err(bad);
    let moved = made.and_then(|()| fill(&beside)).and_then(|()| fs::rename(&beside, folder).map_err(bad));
    if moved.is_err() {
        let _ = fs::remove_dir_all(&beside);
    }
    // Somebody else may have been faster.
    if folder.is_dir() { Ok(()) } else { moved }
}

/// A name made of contents (FNV-1a).
pub fn hash(parts: &[&[u8]]) -> String {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = parts.iter().copied().flatten().fold(0xcbf2_9ce4_8422_2325, step);
    format!("{hash:016x}")
}

/// The directory for things that can be made again: `SEQCST_CACHE`, or where such things belong.
fn cache() -> Result<PathBuf, String> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let home = || variable("HOME").map(|home| home.join(".cache"));
    let usual = variable("XDG_CACHE_HOME").filter(|path| path.is_absolute()).or_else(home);
    let chosen = variable("SEQCST_CACHE").or_else(|| usual.map(|folder| folder.join("seqcst")));
    if let Some(folder) = &chosen
        && fs::create_dir_all(folder).is_ok()
        && let Ok(folder) = folder.canonicalize()
    {
        return Ok(folder);
    }
    private_temporary().map_err(|error| {
        let chosen = chosen.unwrap_or_default();
        format!("no directory for the runtime: neither {} nor a temporary one ({error})", chosen.display())
    })
}

/// A directory under `/tmp` that belongs to this user alone: what is in it gets linked into programs.
fn private_temporary() -> io::Result<PathBuf> {
    let user = fs::metadata("/proc/self")?.uid();
    let folder = std::env::temp_dir().join(format!("seqcst-{user}"));
    match DirBuilder::new().mode(0o700).create(&folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let data = fs::symlink_metadata(&folder)?;
    if data.is_dir() && data.uid() == user && data.mode() & 0o077 == 0 {
        Ok(folder)
    } else {
        Err(io::Error::other(format!("{} is not this user's own", folder.display())))
    }
}
