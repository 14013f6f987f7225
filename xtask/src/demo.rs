//! `cargo xtask demo`: the tool from end to end, with the exit codes that are expected.

use crate::Outcome;
use crate::cargo::{root, seqcst};
use std::fs;
use std::path::Path;
use std::process::Command;

/// A program that is not robust, and the same with fences.
const BROKEN: &str = "corpus/algorithms/peterson-sc.tpl";
const REPAIRED: &str = "corpus/algorithms/peterson-ra.tpl";
/// A larger one.
const LARGE: &str = "corpus/algorithms/rcu.tpl";

/// Shows a violation, its drawing, its repair, a larger proof, the same in a program as it runs, under schedules of our choice,
/// and in libraries with any clients.
pub fn run() -> Outcome {
    println!("building `seqcst` …");
    let tool = seqcst(true)?;
    let target = tool.parent().and_then(Path::parent).ok_or("the tool lies nowhere")?;
    let folder = target.join("demo");
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let (svg, dot) = (folder.join("peterson-sc.svg"), folder.join("peterson-sc.dot"));
    for old in [&svg, &dot] {
        let _ = fs::remove_file(old);
    }

    println!("\n1. Peterson's lock with release/acquire accesses. It is correct under SC; is it still SC?\n");
    let (svg_name, dot_name) = (svg.display().to_string(), dot.display().to_string());
    let drawings = ["--svg", &svg_name, "--dot", &dot_name];
    check(&tool, &[&["--model", "ra"], &drawings[..], &[BROKEN]].concat(), 1)?;
    drawing(&svg, "<svg")?;
    drawing(&dot, "digraph")?;
    println!(
        "   The execution graph of this witness: {svg_name}\n   The same for Graphviz:               {dot_name}"
    );

    println!("\n2. The same lock, with an SC fence before and after the store to `turn`:\n");
    only_fences_differ()?;
    check(&tool, &["--model", "ra", REPAIRED], 0)?;

    println!("\n3. That was all of its states. Here are all of those of a larger program, user-level RCU:\n");
    check(&tool, &["--model", "ra", LARGE], 0)?;

    println!("\n4. A program in C, as it runs: a worker goes to sleep while somebody has work for it.\n");
    run_c(&tool, &folder, "idle", 1)?;

    println!("\n5. With an SC fence in each thread:\n");
    run_c(&tool, &folder, "idle-fenced", 0)?;

    println!(
        "\n6. A correct run proves little. All schedules of a sequence lock with up to two preemptions:\n"
    );
    explore_c(&tool, &folder, "seqlock", 1)?;

    println!("\n7. With acquire loads of the data:\n");
    explore_c(&tool, &folder, "seqlock-acquire", 0)?;

    println!(
        "\n8. A library has more than one program. A ticket lock, for any client with any number of threads, calls and locks:\n"
    );
    seqcst_in_root(&tool, &["library", "--explain", "corpus/library/ticket-lock.c"], 0)?;

    println!("\n9. Two registers, each robust for every client, and a program that uses both:\n");
    let registers = ["corpus/library/compose/first.c", "corpus/library/compose/second.c"];
    let client = |name| [&["library", "--compose", name], &registers[..]].concat();
    seqcst_in_root(&tool, &client("corpus/library/compose/client.c"), 1)?;

    println!("\n10. With SC fences between calls to different libraries:\n");
    seqcst_in_root(&tool, &client("corpus/library/compose/client-fences.c"), 0)?;

    println!(
        "\nWhat to try next:\n\
         \x20 cargo install --path crates/cli                  install `seqcst`\n\
         \x20 seqcst check --model tso {BROKEN}\n\
         \x20 make CC=\"seqcst cc\"                              your own C program; cargo seqcst test: your crate\n\
         \x20 seqcst explore --strategy dpor ./program         all schedules of your own program: see docs/explore.md\n\
         \x20 seqcst library --explain library.c               your own library, for every client: see docs/library.md\n\
         \x20 seqcst check --format json corpus/litmus/*       one JSON object per program: see docs/json.md\n\
         \x20 docs/tpl.md                                      the language: write your own program\n\
         \x20 docs/check.md                                    how the answer is found, how to read a witness"
    );
    Ok(())
}

/// Builds a program of `examples/` with `seqcst cc` and runs it with `seqcst run`.
fn run_c(tool: &Path, folder: &Path, name: &str, expected: i32) -> Outcome {
    let program = folder.join(name).display().to_string();
    let source = format!("examples/{name}.c");
    seqcst_in_root(tool, &["cc", "-pthread", &source, "-o", &program], 0)?;
    seqcst_in_root(tool, &["run", &program], expected)
}

/// Builds a program of `corpus/c/small` and tries its schedules.
fn explore_c(tool: &Path, folder: &Path, name: &str, expected: i32) -> Outcome {
    let program = folder.join(name).display().to_string();
    let source = format!("corpus/c/small/{name}.c");
    seqcst_in_root(tool, &["cc", "-pthread", &source, "-o", &program], 0)?;
    seqcst_in_root(tool, &["explore", &program], expected)
}

/// Runs `seqcst check` in the workspace, shows what it prints, demands an exit code.
fn check(tool: &Path, args: &[&str], expected: i32) -> Outcome {
    seqcst_in_root(tool, &[&["check"], args].concat(), expected)
}

fn seqcst_in_root(tool: &Path, args: &[&str], expected: i32) -> Outcome {
    println!("$ seqcst {}", args.join(" "));
    let status = Command::new(tool).current_dir(root()).args(args).status();
    match status.map_err(|error| error.to_string())?.code() {
        Some(code) if code == expected => Ok(()),
        code => Err(format!("expected exit code {expected}, got {code:?}")),
    }
}

fn drawing(path: &Path, beginning: &str) -> Outcome {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    if text.contains(beginning) { Ok(()) } else { Err(format!("{} is no drawing", path.display())) }
}

/// What is said about the two programs must be true.
fn only_fences_differ() -> Outcome {
    let code = |file: &str| {
        let source = fs::read_to_string(root().join(file)).map_err(|error| format!("{file}: {error}"))?;
        let keep = |line: &&str| !line.is_empty() && !line.starts_with("//") && *line != "fence;";
        Ok::<_, String>(source.lines().map(str::trim).filter(keep).map(str::to_owned).collect::<Vec<_>>())
    };
    if code(BROKEN)? == code(REPAIRED)? {
        return Ok(());
    }
    Err(format!("{REPAIRED} differs from {BROKEN} in more than fences"))
}
