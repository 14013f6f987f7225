//! What an answer may be wrong about is said, place by place; and reasons that are given are the true ones.

use super::{clang, port, schema, scratch, text, write};
use serde_json::Value;

/// Asks from x86 to ARMv8; in text and as an object.
fn ask(name: &str, source: &str, more: &[&str]) -> (String, Value) {
    let folder = scratch(&format!("warnings-{name}"));
    let path = write(&folder, &format!("{name}.c"), source);
    let args = [&["--from", "x86", "--to", "armv8", &path], more].concat();
    let shown = port(&args);
    assert!(shown.stderr.is_empty(), "{}", text(&shown.stderr));
    let json = port(&[&["--format", "json"], &args[..]].concat());
    (text(&shown.stdout), schema::answer(&text(&json.stdout)))
}

/// The warnings of an answer: kind and line.
fn warned(answer: &Value) -> Vec<(String, u64)> {
    let notes = answer["notes"].as_array().expect("a list").iter();
    let warnings = notes.filter(|note| note["warning"] == true);
    let read = |note: &Value| {
        (note["kind"].as_str().expect("a word").to_owned(), note["place"]["line"].as_u64().unwrap_or(0))
    };
    warnings.map(read).collect()
}

fn assumed(answer: &Value, name: &str) -> Option<String> {
    let list = answer["assumptions"].as_array().expect("a list").iter();
    let found = list.into_iter().find(|assumption| assumption["name"] == name)?;
    Some(found["words"].as_str().expect("words").to_owned())
}

/// A thread that hands data over, and one that takes it: `FLAG` is written and read in these ways.
fn handover(flag: &str, write: &str, read: &str) -> String {
    format!(
        "typedef unsigned long pthread_t;
int pthread_create(pthread_t *, const void *, void *(*)(void *), void *);
int data;
{flag};
void *writer(void *unused) {{
    data = 1;
    {write};
    return unused;
}}
void *reader(void *unused) {{
    while (!{read});
    return (void *)(long)data;
}}
int main(void) {{
    pthread_t a, b;
    pthread_create(&a, 0, writer, 0);
    return pthread_create(&b, 0, reader, 0);
}}
"
    )
}

#[test]
fn what_may_guard_plain_accesses_that_are_left_out() {
    if !clang() {
        return;
    }
    let volatile = handover("volatile int flag", "flag = 1", "flag");
    let (shown, answer) = ask("volatile", &volatile, &["--atomics-only"]);
    let both = |kind: &str| vec![(kind.to_owned(), 7), (kind.to_owned(), 11)];
    assert_eq!(warned(&answer), both("volatile-flag"), "{shown}");
    assert!(shown.contains("warning: `flag` is volatile and not atomic"), "{shown}");
    let atomic = |store: &str, load: &str| {
        let store = format!("__c11_atomic_store(&flag, 1, __ATOMIC_{store})");
        let load = format!("__c11_atomic_load(&flag, __ATOMIC_{load})");
        handover("_Atomic(int) flag", &store, &load)
    };
    let relaxed =
        |name: &str, store: &str, load: &str| warned(&ask(name, &atomic(store, load), &["--atomics-only"]).1);
    assert_eq!(relaxed("relaxed", "RELAXED", "RELAXED"), both("relaxed-flag"));
    assert_eq!(relaxed("store", "RELAXED", "ACQUIRE"), both("relaxed-flag")[..1]);
    assert_eq!(relaxed("load", "RELEASE", "RELAXED"), both("relaxed-flag")[1..]);
    assert_eq!(relaxed("strong", "RELEASE", "ACQUIRE"), []);
    // Without the option the accesses are looked at.
    let (_, answer) = ask("whole", &volatile, &[]);
    assert_eq!((warned(&answer), answer["pairs_total"].as_u64()), (Vec::new(), Some(2)));
}

#[test]
fn fences_and_locks_guard() {
    if !clang() {
        return;
    }
    let store = "__c11_atomic_thread_fence(__ATOMIC_RELEASE); __c11_atomic_store(&flag, 1, __ATOMIC_RELAXED)";
    let fenced = handover("_Atomic(int) flag", store, "__c11_atomic_load(&flag, __ATOMIC_RELAXED)");
    let fenced = fenced
        .replace(");\n    return (void", "); __c11_atomic_thread_fence(__ATOMIC_ACQUIRE);\n    return (void");
    assert_eq!(warned(&ask("fenced", &fenced, &["--atomics-only"]).1), []);
    // A counter beside data that a lock guards.
    let locked = "
typedef unsigned long pthread_t;
int pthread_create(pthread_t *, const void *, void *(*)(void *), void *);
int pthread_mutex_lock(void *), pthread_mutex_unlock(void *);
long mutex[8];
int data;
_Atomic(int) count;
void *worker(void *unused) {
    for (int i = 0; i < 9; i++) {
        pthread_mutex_lock(mutex);
        data++;
        pthread_mutex_unlock(mutex);
        __c11_atomic_fetch_add(&count, 1, __ATOMIC_RELAXED);
    }
    return unused;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, worker, 0);
    return pthread_create(&b, 0, worker, 0);
}
";
    assert_eq!(warned(&ask("locked", locked, &["--atomics-only"]).1), []);
}

#[test]
fn assembly_that_the_new_machine_has_not() {
    if !clang() {
        return;
    }
    let source = "_Atomic(int) x;
void f(void) {
    __asm__ volatile(\"mfence\" ::: \"memory\");
    __asm__ volatile(\"\" ::: \"memory\");
    __asm__ volatile(\"lock; incl %0\" : \"+m\"(x) :: \"memory\");
    __asm__ volatile(\"nop\");
}
";
    let (shown, answer) = ask("assembly", source, &["--client"]);
    let refused = |lines: &[u64]| -> Vec<(String, u64)> {
        lines.iter().map(|&line| ("assembly-refused".to_owned(), line)).collect()
    };
    assert_eq!(warned(&answer), refused(&[3, 5]), "{shown}");
    assert!(
        shown.contains("warning: clang can't assemble this for armv8 (unrecognized instruction"),
        "{shown}"
    );
    assert!(
        assumed(&answer, "assembly-replaced").is_some() && assumed(&answer, "compiled-for-host").is_none()
    );
    // On x86 it is what it is.
    let folder = scratch("warnings-here");
    let path = write(&folder, "here.c", source);
    let out = port(&["--from", "sc", "--to", "x86", "--client", "--format", "json", &path]);
    let answer = schema::answer(&text(&out.stdout));
    assert_eq!((warned(&answer), assumed(&answer, "assembly-replaced")), (Vec::new(), None));
}

#[test]
fn code_for_another_machine_has_its_assembly() {
    let folder = scratch("warnings-other");
    let ir = "target triple = \"x86_64-unknown-linux-gnu\"\n@x = global i32 0\ndefine void @f() {\n  store i32 1, ptr @x\n  \
              call void asm sideeffect \"lock; incl $0\", \"*m,~{memory}\"(ptr @x)\n  call void asm sideeffect \"\", \"~{memory}\"()\n  ret void\n}\n";
    let path = write(&folder, "other.ll", ir);
    let out = port(&["--from", "x86", "--to", "armv8", "--threads", "f", "--format", "json", &path]);
    let answer = schema::answer(&text(&out.stdout));
    assert_eq!(warned(&answer), [("assembly-refused".to_owned(), 0)], "{answer}");
    assert!(
        answer["notes"][0]["note"].as_str().is_some_and(|note| note.contains("is for x86 (`lock; incl $0`)"))
    );
}

#[test]
fn why_code_is_not_compiled_for_the_new_machine() {
    if !clang() {
        return;
    }
    let refuses =
        "#ifndef __x86_64__\n#error \"no port yet\"\n#endif\n_Atomic(int) x;\nvoid f(void) { x = 1; }\n";
    let (shown, answer) = ask("refuses", refuses, &["--client"]);
    let words = assumed(&answer, "compiled-for-host").expect("is assumed");
    assert!(
        words.contains("clang can't compile it for armv8: ")
            && words.ends_with("2:2: error: \"no port yet\""),
        "{words}"
    );
    assert!(!shown.contains("there are no headers"), "{shown}");
    let registers = "_Atomic(int) x;\nvoid f(void) {\n    int a;\n    __asm__(\"xor %0, %0\" : \"=a\"(a));\n    x = a;\n}\n";
    let (shown, answer) = ask("registers", registers, &["--client"]);
    assert_eq!(warned(&answer), [("assembly-refused".to_owned(), 4)], "{shown}");
    assert!(
        assumed(&answer, "compiled-for-host")
            .is_some_and(|words| words.contains("invalid output constraint '=a'"))
    );
    // What is wrong on every machine is an error, by what clang says here.
    let folder = scratch("warnings-wrong");
    let path =
        write(&folder, "wrong.c", "#ifndef __x86_64__\n#error no\n#endif\nint main(void) { return 0 }\n");
    let out = port(&["--from", "x86", "--to", "armv8", &path]);
    assert_eq!(out.status.code(), Some(2));
    assert!(text(&out.stderr).contains("wrong.c:4:26: error: expected ';'"), "{}", text(&out.stderr));
}

#[test]
fn which_compiler_is_missing() {
    let folder = scratch("warnings-compiler");
    let path = write(&folder, "a.c", "int main(void) { return 0; }\n");
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_seqcst"));
    let out = command.args(["port", &path]).env("SEQCST_CC", "gcc").output().expect("seqcst runs");
    assert_eq!(out.status.code(), Some(2));
    let said = text(&out.stderr);
    assert!(
        said.contains("SEQCST_CC names gcc, which is not clang") || said.contains("can't be run"),
        "{said}"
    );
}
