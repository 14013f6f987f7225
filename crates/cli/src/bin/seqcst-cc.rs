//! `seqcst-cc`: `seqcst cc` in one word, for build systems that want one.

#[path = "../launch.rs"]
mod launch;

fn main() -> std::process::ExitCode {
    launch::seqcst("cc")
}
