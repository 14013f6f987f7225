//! `seqcst-link-cc`: the linker that rustc calls under `cargo seqcst` (the end of the name tells rustc its flags).

#[path = "../launch.rs"]
mod launch;

fn main() -> std::process::ExitCode {
    launch::seqcst("link")
}
