//! `cargo-seqcst`: what cargo calls for `cargo seqcst`.

#[path = "../launch.rs"]
mod launch;

fn main() -> std::process::ExitCode {
    launch::seqcst("cargo")
}
