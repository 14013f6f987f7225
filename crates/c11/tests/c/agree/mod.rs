//! What is read from C computes what the compiler's program computes.

pub mod run;

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

use run::Machine;
use seqcst_c11::Options;

/// A library, what a program needs to use it, and calls: how they are written in C, with `A` and `B` for numbers, and `=` before
/// those whose value is compared.
struct Case {
    text: String,
    /// Declares the object `o` and prepares it.
    setup: &'static str,
    calls: &'static [&'static str],
    /// Calls come in this order rather than at random (locks, and methods that wait).
    in_order: bool,
}

fn corpus(name: &str, setup: &'static str, calls: &'static [&'static str], in_order: bool) -> Case {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/library").join(name);
    Case { text: fs::read_to_string(path).unwrap(), setup, calls, in_order }
}

fn agree(case: &Case) {
    let library = seqcst_c11::read("lib.c", case.text.as_bytes(), &Options::default()).unwrap();
    let mut machine = Machine::new(&library);
    let (mut program, mut expected) = (String::new(), String::new());
    let mut state = 0x2545_f491_4f6c_dd1du64;
    let mut random = |limit: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % limit) as i128
    };
    for round in 0..200 {
        let which =
            if case.in_order { round % case.calls.len() } else { random(case.calls.len() as u64) as usize };
        let (a, b) = (random(12) - 2, random(12) - 2);
        let call = case.calls[which].trim_start_matches('=');
        let has_value = case.calls[which].starts_with('=');
        let name = &call[..call.find('(').unwrap()];
        let method = library.methods.iter().find(|m| m.name == name).unwrap_or_else(|| panic!("{name}"));
        let arguments = [("A", a), ("B", b)].into_iter().filter(|(n, _)| call.contains(n)).map(|(_, v)| v);
        let (result, out) = machine.call(method, &arguments.collect::<Vec<_>>());
        let written = call.replace('A', &a.to_string()).replace('B', &b.to_string());
        let _ = writeln!(program, "out1 = out2 = 0;");
        if has_value {
            let _ = writeln!(program, "printf(\"%ld\", (long)({written}));");
            let _ = write!(expected, "{result}");
        } else {
            let _ = writeln!(program, "{written};");
        }
        for (at, value) in out.iter().enumerate() {
            let _ = writeln!(program, "printf(\" %ld\", (long)out{});", at + 1);
            let _ = write!(expected, " {value}");
        }
        let _ = writeln!(program, "puts(\"\");");
        expected.push('\n');
    }
    assert_eq!(execute(&case.text, case.setup, &program), expected);
}

/// Compiles and runs a program that includes the library.
pub fn execute(library: &str, setup: &str, body: &str) -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let unique =
        format!("seqcst-library-agree-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    let folder = std::env::temp_dir().join(unique);
    fs::create_dir_all(&folder).unwrap();
    let text = format!(
        "#include <stdio.h>\n{library}\nint main(void) {{ int out1 = 0, out2 = 0; (void)out2;\n{setup}\n{body} }}\n"
    );
    fs::write(folder.join("main.c"), text).unwrap();
    let built = Command::new("cc")
        .args(["-std=gnu11", "-O0", "-w", "-o", "main", "main.c"])
        .current_dir(&folder)
        .output()
        .unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let run = Command::new("timeout").args(["10", "./main"]).current_dir(&folder).output().unwrap();
    fs::remove_dir_all(&folder).unwrap();
    assert!(run.status.success(), "{:?}", run.status);
    String::from_utf8(run.stdout).unwrap()
}

#[test]
fn libraries_of_the_corpus() {
    let queue = "static struct queue o; queue_init(&o);";
    for case in [
        corpus("register.c", "", &["register_set(A)", "=register_get()"], false),
        corpus("register-fences.c", "", &["register_set(A)", "=register_get()"], false),
        corpus(
            "register-relaxed.c",
            "static struct cell o;",
            &["register_set(&o, A)", "=register_get(&o)"],
            false,
        ),
        corpus("treiber.c", "static struct stack o;", &["push(&o, A)", "=pop(&o)"], false),
        corpus("treiber-recycled.c", "static struct stack o;", &["push(&o, A)", "=pop(&o)"], false),
        corpus("spsc-ring.c", "static struct ring o;", &["=enqueue(&o, A)", "=dequeue(&o, &out1)"], false),
        corpus("michael-scott.c", queue, &["enqueue(&o, A)", "=dequeue(&o)"], false),
        corpus("michael-scott-lagging.c", queue, &["enqueue(&o, A)", "=dequeue(&o)"], false),
        corpus("mpmc.c", queue, &["enqueue(&o, A)", "enqueue(&o, A)", "=dequeue(&o)", "=dequeue(&o)"], true),
        corpus("mpmc-try.c", queue, &["=enqueue(&o, A)", "=dequeue(&o, &out1)"], false),
        corpus("chase-lev.c", "", &["=push(A)", "=take()", "=steal()"], false),
        corpus("sequence-lock.c", "", &["pair_set(A, B)", "pair_get(&out1, &out2)"], false),
        corpus("ticket-lock.c", "static struct ticket o;", &["ticket_lock(&o)", "ticket_unlock(&o)"], true),
        corpus("two-registers.c", "", &["set_left(A)", "=get_right()", "set_right(B)", "=get_left()"], false),
        corpus("speculative.c", "", &["publish(A)", "=observe()"], false),
        corpus(
            "list-set.c",
            "static struct set o;",
            &["=set_add(&o, A)", "=set_remove(&o, A)", "=set_contains(&o, A)"],
            false,
        ),
    ] {
        agree(&case);
    }
}

#[test]
fn control_flow_and_places() {
    let text = include_str!("agree.c");
    let calls: &[&str] = &[
        "=loops(A, B)",
        "=early(A, B)",
        "=nested(A)",
        "=logic(A, B)",
        "=steps(A)",
        "=chosen(A)",
        "=cells_of(A, B)",
        "=listed(A)",
        "=tagged(A)",
        "=swapped(A, &out1)",
        "=shared_find(A, B)",
        "=pool_of(A)",
    ];
    let setup = "static struct thing o; prepare(&o);";
    agree(&Case { text: text.to_owned(), setup, calls, in_order: false });
}

#[test]
fn odd_pieces() {
    let text = include_str!("odd.c");
    let calls: &[&str] = &[
        "=statics(A)",
        "=static_of_helper(A)",
        "=cases(A)",
        "=literal(A)",
        "=narrow(A)",
        "=bounds(A)",
        "=ring(A)",
        "=mixed(A, B)",
        "=enums(A)",
        "=bools(A, B)",
        "=shifts(A, B)",
        "=assigns(A, B)",
        "=helpers(A, B)",
        "=shadows(A)",
        "=loops_of_sizes(A)",
        "=literals(A)",
        "=exchanges(A)",
        "=bits(A, B)",
        "=chosen_types(A)",
        "=hidden(A)",
        "=unhidden(A)",
    ];
    agree(&Case { text: text.to_owned(), setup: "", calls, in_order: false });
}
