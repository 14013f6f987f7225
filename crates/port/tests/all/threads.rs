//! What runs at the same time: the functions that threads run, and what others do meanwhile.

use crate::common::piece::words;
use seqcst_port::analysis::{Analysis, Compilation, UserOptions};
use seqcst_port::ir::code::{Code, File};
use seqcst_port::ir::inline::Reason;
use seqcst_port::ir::lower::{Options, Ported, lower};
use seqcst_port::ir::read;
use seqcst_port::ir::threads::{find, unknown};
use seqcst_port::machine::Machine;
use seqcst_port::robust::{Question, check};
use std::time::Duration;

/// A reader of `@d` and `@f`, and some more.
fn with(more: &str) -> String {
    format!(
        "@d = internal global i32 0\n@f = internal global i32 0\n\
         declare i32 @pthread_create(ptr, ptr, ptr, ptr)\ndeclare i32 @pthread_join(i64, ptr)\n\
         declare i32 @pthread_detach(i64)\n\
         define internal ptr @r(ptr %p) {{\n%a = load atomic i32, ptr @f monotonic, align 4\n\
         %b = load atomic i32, ptr @d monotonic, align 4\nret ptr null\n}}\n{more}"
    )
}

const START: &str = "%s = call i32 @pthread_create(ptr %t, ptr null, ptr @r, ptr null)\n";
const JOIN: &str = "%j = call i32 @pthread_join(i64 undef, ptr null)\n";
const WRITE: &str = "store atomic i32 1, ptr @d monotonic, align 4\n";
const READER: [&str; 2] = ["r: Relaxed Load f", "r: Relaxed Load d"];

fn code(text: &str) -> Code {
    let module = read(text).unwrap_or_else(|e| panic!("{:?}: {}\n{text}", e.line_column(text), e.message));
    Code::new(vec![File { name: "piece".to_owned(), text: text.to_owned(), module }])
}

fn ported(text: &str) -> Ported {
    let code = code(text);
    lower(&code, &find(&code), Options::default()).expect("no limit")
}

/// What memory sees of whom.
fn seen(text: &str) -> Vec<String> {
    let ported = ported(text);
    let functions = ported.program.functions.iter();
    functions
        .flat_map(|f| words(&ported, f).into_iter().map(|words| format!("{}: {words}", f.name)))
        .collect()
}

/// What is seen besides the reader.
fn others(text: &str) -> Vec<String> {
    seen(text).into_iter().filter(|words| !READER.contains(&words.as_str())).collect()
}

fn main(body: &str) -> String {
    with(&format!("define i32 @main() {{\n%t = alloca i64\n{body}ret i32 0\n}}\n"))
}

const BY_MAIN: [&str; 1] = ["main: Relaxed Store d"];

#[test]
fn threads_of_a_loop_go_on() {
    assert_eq!(others(&main(&format!("{WRITE}{START}{JOIN}"))), [""; 0]);
    assert_eq!(others(&main(&format!("{START}{WRITE}{JOIN}"))), BY_MAIN);
    assert_eq!(others(&main(&format!("{START}{JOIN}{WRITE}"))), [""; 0]);
    assert_eq!(others(&main(&format!("{START}{WRITE}"))), BY_MAIN);
    let started = format!("br label %l\nl:\n{START}br i1 undef, label %l, label %e\ne:\n");
    assert_eq!(others(&main(&format!("{started}{JOIN}{WRITE}"))), BY_MAIN);
    let joined =
        format!("{START}br label %l\nl:\nbr i1 undef, label %b, label %e\nb:\n{JOIN}br label %l\ne:\n");
    assert_eq!(others(&main(&format!("{joined}{WRITE}"))), BY_MAIN, "there may be no round");
    let either = format!("{START}br i1 undef, label %b, label %e\nb:\n{JOIN}br label %e\ne:\n");
    assert_eq!(others(&main(&format!("{either}{WRITE}"))), BY_MAIN);
}

/// `for (i = 0; i < rounds; i++)`
fn counted(rounds: u32, name: &str, body: &str) -> String {
    format!(
        "br label %{name}\n{name}:\n%n{name} = phi i64 [ 0, %0 ], [ %m{name}, %{name} ]\n{body}\
         %m{name} = add nuw nsw i64 %n{name}, 1\n%c{name} = icmp eq i64 %m{name}, {rounds}\n\
         br i1 %c{name}, label %e{name}, label %{name}\ne{name}:\n"
    )
}

#[test]
fn loops_that_count_alike() {
    let piece =
        |starts, joins| main(&format!("{}{}{WRITE}", counted(starts, "a", START), counted(joins, "b", JOIN)));
    assert_eq!(others(&piece(8, 8)), [""; 0]);
    assert_eq!(others(&piece(8, 7)), BY_MAIN);
    assert_eq!(others(&piece(8, 8).replacen("add nuw", "shl nuw", 1)), BY_MAIN);
    let again = "%s2 = call i32 @pthread_create(ptr %t, ptr null, ptr @r, ptr null)\n";
    let more =
        |joins| main(&format!("{again}{}{}{WRITE}", counted(8, "a", START), counted(joins, "b", JOIN)));
    assert_eq!(others(&more(8)), BY_MAIN);
    assert_eq!(others(&more(9)), [""; 0]);
    let meanwhile =
        main(&format!("{}{}", counted(8, "a", START), counted(8, "b", &format!("{WRITE}{JOIN}"))));
    assert_eq!(others(&meanwhile), BY_MAIN);
}

#[test]
fn threads_of_threads_go_on() {
    let starter = "define internal ptr @s(ptr %p) {\n%t = alloca i64\n\
                   %s = call i32 @pthread_create(ptr %t, ptr null, ptr @r, ptr null)\nret ptr null\n}\n";
    let start = START.replace("@r", "@s");
    let piece = |body: &str| main(body) + starter;
    assert_eq!(others(&piece(&format!("{WRITE}{start}{JOIN}"))), [""; 0]);
    assert_eq!(others(&piece(&format!("{start}{JOIN}{WRITE}"))), BY_MAIN);
}

#[test]
fn unknown_calls_of_main_are_listed() {
    let piece = main(&format!("{START}call void @ext()\n{JOIN}")) + "declare void @ext()\n";
    let notes = ported(&piece).notes;
    assert!(
        matches!(&notes[..], [note] if note.reason == Reason::External && note.name == "ext"),
        "{notes:?}"
    );
}

#[test]
fn functions_for_others_to_call() {
    let library = |functions: &[(&str, &str)]| {
        let define =
            |(name, body): &(&str, &str)| format!("define void @{name}(ptr %t) {{\n{body}ret void\n}}\n");
        with(&functions.iter().map(define).collect::<String>())
    };
    let caller = ["the caller: Relaxed Store d"];
    let (all, closed) = (format!("{START}{WRITE}{JOIN}"), format!("{WRITE}{START}{JOIN}{WRITE}"));
    assert_eq!(others(&library(&[("run", &all)])), caller);
    assert_eq!(others(&library(&[("run", &closed)])), [""; 0]);
    assert!(ported(&library(&[("run", &closed)])).one_caller);
    // A thread goes on between the calls.
    assert_eq!(others(&library(&[("start", START), ("put", WRITE), ("stop", JOIN)])), caller);
    assert_eq!(others(&library(&[("start", &format!("{WRITE}{START}"))])), caller);
    assert_eq!(others(&library(&[("run", &all), ("put", WRITE)])), caller, "one call after the other");
    assert!(!ported(&main(START)).one_caller);
}

#[test]
fn who_else_starts_threads() {
    let other = format!("define void @init(ptr %t) {{\n{START}ret void\n}}\n");
    let piece = main(&format!("{WRITE}{START}{JOIN}")) + &other;
    assert_eq!(others(&piece), BY_MAIN, "a thread may run before");
}

/// `@w` writes; it is started in some way.
fn started_by(way: &str) -> Code {
    let writer = format!("define internal ptr @w(ptr %p) {{\n{WRITE}ret ptr null\n}}\n");
    code(&(with(&writer) + way))
}

#[test]
fn functions_that_come_some_way() {
    let main =
        |body: &str| format!("define i32 @main(i1 %c) {{\n%t = alloca i64\n{START}{body}ret i32 0\n}}\n");
    let create =
        |what: &str| format!("%u = call i32 @pthread_create(ptr %t, ptr null, ptr {what}, ptr null)\n");
    let wrapper = |linkage: &str| {
        let body = create("%fn");
        format!("define {linkage} void @go(ptr %t, ptr %fn) {{\n{body}ret void\n}}\n")
    };
    let call = "call void @go(ptr %t, ptr @w)\n";
    let table = "@table = internal global [2 x ptr] [ptr @w, ptr @w]\n";
    let known = [
        main(call) + &wrapper("internal"),
        main(call) + &wrapper(""),
        main(&format!("%x = select i1 %c, ptr @w, ptr @r\n{}", create("%x"))),
        main(&format!("%x = alloca ptr\nstore ptr @w, ptr %x\n%y = load ptr, ptr %x\n{}", create("%y"))),
        main(&format!("%x = load ptr, ptr getelementptr (i8, ptr @table, i64 8)\n{}", create("%x"))) + table,
    ];
    for way in &known {
        let code = started_by(way);
        let names: Vec<&str> = find(&code).iter().map(|thread| code.name(thread.function)).collect();
        assert!(names.contains(&"w") && names.contains(&"r"), "{names:?} {way}");
        assert_eq!(unknown(&code), [], "{way}");
    }
    let unknowns = [
        main(&create("@other")) + "declare ptr @other(ptr)\n",
        main(&format!("%x = load ptr, ptr @v\n{}", create("%x"))) + "@v = global ptr @w\n",
        main(&format!("%x = load ptr, ptr @table\n{}", create("%x")))
            + "@table = internal constant [2 x ptr] [ptr @w, ptr @other]\ndeclare ptr @other(ptr)\n",
        main(&format!("{call}call void @keep(ptr @go)\n"))
            + &wrapper("internal")
            + "declare void @keep(ptr)\n",
        format!("define void @f(ptr %t) {{\n{START}{call}ret void\n}}\n") + &wrapper(""),
    ];
    for way in &unknowns {
        assert_eq!(unknown(&started_by(way)).len(), 1, "{way}");
    }
}

#[test]
fn threads_of_cpp_and_rust() {
    let cpp = |body: &str| {
        let start = "@_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE";
        let body = body.replace("START", &format!("call void {start}(ptr %t, ptr %q, ptr null)"));
        with(&format!(
            "declare void {start}(ptr, ptr, ptr)\ndeclare void @_ZNSt6thread4joinEv(ptr)\n\
             define internal void @_ZNSt6thread11_State_implIXE6_M_runEv(ptr %p) {{\n\
             %r = call ptr @r(ptr null)\nret void\n}}\n\
             define i32 @main() {{\n%t = alloca i64\n%q = alloca ptr\n{body}ret i32 0\n}}\n"
        ))
    };
    let join = "call void @_ZNSt6thread4joinEv(ptr %t)\n";
    let of_main = |piece: &str| seen(piece).into_iter().filter(|words| words.starts_with("main")).count();
    assert_eq!(of_main(&cpp(&format!("{WRITE}START\n{join}{WRITE}"))), 0);
    assert_eq!(of_main(&cpp(&format!("START\n{WRITE}{join}"))), 1);
    assert_eq!(of_main(&cpp(&format!("START\n{WRITE}"))), 1);
    assert_eq!(of_main(&cpp(WRITE)), 1, "nobody knows where the thread is started");
    // What it was given is taken, and never deleted here.
    let deleted = |before: &str| {
        format!(
            "START\n{before}%o = load ptr, ptr %q\n%n = icmp eq ptr %o, null\nbr i1 %n, label %e, label %b\n\
             b:\n%v = load ptr, ptr %o\ncall void %v(ptr %o)\nbr label %e\ne:\n"
        )
    };
    assert_eq!(of_main(&cpp(&deleted(""))), 0, "{:?}", seen(&cpp(&deleted(""))));
    assert!(ported(&cpp(&deleted(""))).notes.is_empty());
    let another = "%z = call ptr @_Znwm(i64 8)\nstore ptr %z, ptr %q\n";
    assert!(of_main(&(cpp(&deleted(another)) + "declare ptr @_Znwm(i64)\n")) > 0);
    let rust = |body: &str| {
        let new = "@_RNvMs0_NtNtNtCs1_3std3sys6thread4unixNtB5_6Thread3new";
        let body = body.replace("START", &format!("%n = call {{ i64, ptr }} {new}(i64 0, ptr null)"));
        with(&format!(
            "declare {{ i64, ptr }} {new}(i64, ptr)\n\
             declare i64 @_RNvNtCs1_3std2rt19lang_start_internal(ptr, ptr)\n\
             define internal void @_ZN3std3sys9backtrace28__rust_begin_short_backtrace17h1E() {{\n\
             %r = call ptr @r(ptr null)\nret void\n}}\n\
             define hidden void @_ZN1p4main17h2E() {{\n{body}ret void\n}}\n\
             define i32 @main(i32 %a, ptr %b) {{\n%m = alloca ptr\nstore ptr @_ZN1p4main17h2E, ptr %m\n\
             %x = call i64 @_RNvNtCs1_3std2rt19lang_start_internal(ptr %m, ptr null)\nret i32 0\n}}\n"
        ))
    };
    let of_main = |piece: &str| seen(piece).into_iter().filter(|words| words.contains("main")).count();
    assert_eq!(of_main(&rust(&format!("{WRITE}START\n"))), 0);
    assert_eq!(of_main(&rust(&format!("START\n{WRITE}"))), 1);
    assert_eq!(of_main(&rust(WRITE)), 1, "nobody knows where the thread is started");
}

/// What is seen of functions that nobody calls by name, in a program with this `main` and `@w`, which writes.
fn of_any_caller(body: &str, more: &str) -> Vec<String> {
    let writer = format!("define internal ptr @w(ptr %p) {{\n{WRITE}ret ptr null\n}}\n");
    let seen = others(&(main(body) + &writer + more));
    seen.into_iter().filter(|words| words.starts_with("any caller")).collect()
}

const BY_ANYBODY: [&str; 1] = ["any caller: Relaxed Store d"];

#[test]
fn functions_whose_address_is_given_away() {
    let around = |what: &str| format!("{START}{what}{JOIN}");
    let submit = "declare void @submit(ptr)\n";
    for (what, more) in [
        ("call void @submit(ptr @w)\n", submit.to_owned()),
        ("%s1 = alloca ptr\nstore ptr @w, ptr %s1\ncall void @submit(ptr %s1)\n", submit.to_owned()),
        (
            "store ptr @w, ptr @hook\ncall void @submit(ptr null)\n",
            format!("@hook = global ptr null\n{submit}"),
        ),
        ("call void @submit(ptr null)\n", format!("@hook = global ptr @w\n{submit}")),
        (
            "call void @submit(ptr @ops)\n",
            format!("@ops = internal constant {{ ptr, i32 }} {{ ptr @w, i32 1 }}\n{submit}"),
        ),
        (
            "call void @pass(ptr @w)\n",
            format!(
                "define internal void @pass(ptr %f) {{\ncall void @submit(ptr %f)\nret void\n}}\n{submit}"
            ),
        ),
        (
            "%i = call i32 @pthread_key_create(ptr %t, ptr @w)\n",
            "declare i32 @pthread_key_create(ptr, ptr)\n".to_owned(),
        ),
        ("%h = call ptr @signal(i32 10, ptr @w)\n", "declare ptr @signal(i32, ptr)\n".to_owned()),
    ] {
        assert_eq!(of_any_caller(&around(what), &more), BY_ANYBODY, "{what}{more}");
        let text = main(&around(what))
            + &format!("define internal ptr @w(ptr %p) {{\n{WRITE}ret ptr null\n}}\n")
            + &more;
        let notes = ported(&text).notes;
        assert!(notes.iter().any(|note| note.reason == Reason::Given && note.name == "w"), "{notes:?}");
    }
    // From then on it may run, also when threads have been waited for.
    let after = format!("{START}{JOIN}call void @submit(ptr @w)\n{WRITE}");
    let writer = format!("define internal ptr @w(ptr %p) {{\n{WRITE}ret ptr null\n}}\n");
    assert!(others(&(main(&after) + &writer + submit)).contains(&BY_MAIN[0].to_owned()));
    let before = format!("{WRITE}call void @submit(ptr @w)\n{START}{JOIN}");
    assert!(!others(&(main(&before) + &writer + submit)).contains(&BY_MAIN[0].to_owned()));
}

#[test]
fn functions_that_are_read_somewhere_and_given_away() {
    let signal = "declare ptr @signal(i32, ptr)\n";
    let ops = "@ops = internal constant { i32, ptr } { i32 1, ptr @w }\n";
    let field = "%f = getelementptr i8, ptr %o, i64 8\n%h = load ptr, ptr %f\n%i = call ptr @signal(i32 10, ptr %h)\n";
    // What stands in a table that another one leads to.
    let table = format!("{ops}@all = internal constant [2 x ptr] [ptr @ops, ptr null]\n{signal}");
    let through = format!(
        "{START}%n = load i64, ptr %t\n%p = getelementptr ptr, ptr @all, i64 %n\n%o = load ptr, ptr %p\n{field}{JOIN}"
    );
    assert_eq!(of_any_caller(&through, &table), BY_ANYBODY);
    // And what a function finds in what it is given.
    let installs = format!("define internal void @put(ptr %o) {{\n{field}ret void\n}}\n{ops}{signal}");
    assert_eq!(of_any_caller(&format!("{START}call void @put(ptr @ops)\n{JOIN}"), &installs), BY_ANYBODY);
    let copies = "%c = alloca { i32, ptr }\ncall void @llvm.memcpy.p0.p0.i64(ptr %c, ptr %o, i64 16, i1 false)\ncall void @submit(ptr %c)\n";
    let copies = installs.replace(field, copies)
        + "declare void @submit(ptr)\ndeclare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)\n";
    assert_eq!(of_any_caller(&format!("{START}call void @put(ptr @ops)\n{JOIN}"), &copies), BY_ANYBODY);
    // Two at once.
    let two = "@two = internal global { ptr, ptr } { ptr @w, ptr null }\ndeclare void @submit(ptr)\n";
    let both = "%v = load <2 x ptr>, ptr @two\n%c = alloca [2 x ptr]\nstore <2 x ptr> %v, ptr %c\ncall void @submit(ptr %c)\n";
    assert_eq!(of_any_caller(&format!("{START}{both}{JOIN}"), two), BY_ANYBODY);
    // What goes through assembly may come out of it.
    let hides = "%h = call ptr asm \"\", \"=r,0\"(ptr @w)\n%i = call ptr @signal(i32 10, ptr %h)\n";
    assert_eq!(of_any_caller(&format!("{START}{hides}{JOIN}"), signal), BY_ANYBODY);
}

/// How many pairs a store buffer swaps.
fn swapped(text: &str) -> usize {
    let ported = ported(text);
    let question = Question::new(Machine::Sc, Machine::X86);
    check(&ported.program, &ported.classes, question, &[]).expect("no limit").faults.len()
}

#[test]
fn what_threads_run_when_they_end_comes_after_what_they_did() {
    let both = |ends: &str, called: &str, declared: &str| {
        format!(
            "@x = internal global i32 0\n@y = internal global i32 0\n@z = internal global i32 0\n\
             declare i32 @pthread_create(ptr, ptr, ptr, ptr)\ndeclare i32 @pthread_join(i64, ptr)\n{declared}\
             define internal ptr @r(ptr %p) {{\nstore atomic i32 1, ptr @x monotonic, align 4\n\
             %a = load atomic i32, ptr @y monotonic, align 4\nret ptr null\n}}\n\
             define internal void @w() {{\n%a = load atomic i32, ptr @x monotonic, align 4\nret void\n}}\n\
             define internal ptr @s(ptr %p) {{\nstore atomic i32 1, ptr @y monotonic, align 4\n{ends}}}\n\
             define i32 @main() {{\n%t = alloca i64\n{called}{START}{}{JOIN}{}ret i32 0\n}}\n",
            START.replace("%s", "%s2").replace("@r", "@s"),
            JOIN.replace("%j", "%j2"),
        )
    };
    let (returns, exits) = ("ret ptr null\n", "call void @exit(i32 0)\nunreachable\n");
    let (register, exit) =
        ("%e = call i32 @atexit(ptr @w)\n", "declare i32 @atexit(ptr)\ndeclare void @exit(i32)\n");
    assert_eq!(swapped(&both(returns, register, exit)), 0, "all have ended");
    assert_eq!(swapped(&both(exits, register, exit)), 2);
    // Who is called from elsewhere may end the program, too.
    let handler = "define internal void @h() {\nstore atomic i32 1, ptr @y monotonic, align 4\ncall void @exit(i32 0)\nunreachable\n}\n";
    let given = format!("{exit}@hook = global ptr @h\n{handler}");
    assert_eq!(swapped(&both(returns, register, &given)), 2);
    let key = |name: &str| {
        (format!("%e = call i32 @{name}(ptr %t, ptr @w)\n"), format!("declare i32 @{name}(ptr, ptr)\n"))
    };
    for name in ["pthread_key_create", "tss_create"] {
        let (register, declared) = key(name);
        assert_eq!(swapped(&both(returns, &register, &declared)), 2, "{name}");
        assert_eq!(
            swapped(&both(
                "call void @pthread_exit(ptr null)\nunreachable\n",
                &register,
                &(declared + "declare void @pthread_exit(ptr)\n")
            )),
            2
        );
    }
    let (register, declared) = key("other_create");
    assert_eq!(swapped(&both(returns, &register, &declared)), 0);
}

#[test]
fn threads_of_one_function_get_different_arguments() {
    // Each has a cell of its own, and looks at its neighbours.
    let body = "store atomic i32 1, ptr %p monotonic, align 4\n%q = getelementptr i8, ptr %p, i64 4\n\
                %n = load atomic i32, ptr %q monotonic, align 4\n%l = getelementptr i8, ptr %p, i64 -4\n\
                %m = load atomic i32, ptr %l monotonic, align 4\n";
    let start = "%c = getelementptr [9 x i32], ptr @cells, i64 0, i64 %nl\n\
                 %s = call i32 @pthread_create(ptr %t, ptr null, ptr @w, ptr %c)\n";
    let text = |body: &str| {
        format!(
            "@cells = internal global [9 x i32] zeroinitializer\ndeclare i32 @pthread_create(ptr, ptr, ptr, ptr)\n\
             define internal ptr @w(ptr %p) {{\n{body}ret ptr null\n}}\n\
             define i32 @main() {{\n%t = alloca i64\n{}ret i32 0\n}}\n",
            counted(8, "l", start)
        )
    };
    assert_eq!(swapped(&text(body)), 2);
    assert_eq!(swapped(&text(&body.replace("i64 4", "i64 0").replace("i64 -4", "i64 0"))), 0);
}

#[test]
fn functions_that_are_only_kept_or_called() {
    let around = |what: &str| format!("{START}{what}{JOIN}");
    let hook = "@hook = internal global ptr @w\n";
    let resolved = around("%h = load ptr, ptr @hook\n%i = call ptr %h(ptr null)\n");
    assert_eq!(of_any_caller(&resolved, hook), [""; 0]);
    assert_eq!(of_any_caller(&around("%i = call ptr @w(ptr null)\n"), hook), [""; 0], "never read");
    // Who calls a pointer that may be anything may call what stands in a table.
    let through = around("%q = load ptr, ptr %t\n%i = call ptr %q(ptr null)\n");
    assert_eq!(of_any_caller(&through, hook), BY_ANYBODY);
    let read = around("%h = load ptr, ptr @hook\ncall void @submit(ptr %h)\n");
    assert_eq!(of_any_caller(&read, &format!("{hook}declare void @submit(ptr)\n")), BY_ANYBODY);
    // What is sorted is compared by the caller, and at once.
    let sorted = around("call void @qsort(ptr %t, i64 1, i64 8, ptr @w)\n");
    let text = "declare void @qsort(ptr, i64, i64, ptr)\n";
    assert_eq!(of_any_caller(&sorted, text), [""; 0]);
    let writer = format!("define internal ptr @w(ptr %p) {{\n{WRITE}ret ptr null\n}}\n");
    assert!(others(&(main(&sorted) + &writer + text)).contains(&BY_MAIN[0].to_owned()));
}

#[test]
fn the_address_of_a_function_that_gives_nothing_back() {
    let choose = format!(
        "define internal void @v() {{\n{WRITE}ret void\n}}\n\
         define internal void ()* @choose() {{\nret void ()* @v\n}}\n"
    );
    let text = main(&format!("{START}%f = call void ()* @choose()\ncall void %f()\n{JOIN}")) + &choose;
    assert!(others(&text).contains(&BY_ANYBODY[0].to_owned()), "{:?}", others(&text));
}

#[test]
fn what_runs_at_the_end_and_before_the_beginning() {
    let writer = format!("define internal void @w() {{\n{WRITE}ret void\n}}\n");
    let seen = |body: &str, more: &str| others(&(main(body) + &writer + more));
    let (register, declared) = ("%e = call i32 @atexit(ptr @w)\n", "declare i32 @atexit(ptr)\n");
    let exit = "call void @exit(i32 0)\nunreachable\ndead:\n";
    assert!(!seen(&format!("{register}{START}{JOIN}"), declared).contains(&BY_MAIN[0].to_owned()));
    assert!(seen(&format!("{register}{START}"), declared).contains(&BY_MAIN[0].to_owned()));
    let exits = seen(&format!("{register}{START}{exit}"), &format!("declare void @exit(i32)\n{declared}"));
    assert!(exits.contains(&BY_MAIN[0].to_owned()), "{exits:?}");
    let table = |name: &str| {
        format!(
            "@llvm.global_{name} = appending global [1 x {{ i32, ptr, ptr }}] [{{ i32, ptr, ptr }} {{ i32 65535, ptr @w, ptr null }}]\n"
        )
    };
    assert_eq!(seen(START, &table("dtors")), BY_MAIN);
    assert_eq!(seen(&format!("{START}{JOIN}"), &table("dtors")), [""; 0]);
    // Before `main` nobody else runs, unless a constructor starts a thread.
    assert_eq!(seen(START, &table("ctors")), [""; 0]);
    let starter = "define internal void @s(ptr %t) {\n%s = call i32 @pthread_create(ptr %t, ptr null, ptr @r, ptr null)\nret void\n}\n";
    let begins = format!("{starter}{}", table("ctors").replace("@w", "@c"));
    let begins = format!(
        "{begins}define internal void @c() {{\n%t = alloca i64\ncall void @s(ptr %t)\ncall void @w()\nret void\n}}\n"
    );
    assert!(seen("", &begins).contains(&BY_ANYBODY[0].to_owned()), "{:?}", seen("", &begins));
}

#[test]
fn threads_that_only_call_other_files_are_not_looked_at() {
    let files = |text: &str| {
        let module = read(text).expect("it is well-formed");
        vec![File { name: "piece".to_owned(), text: text.to_owned(), module }]
    };
    let ask = |text: &str| {
        let options = UserOptions { time_limit: Duration::from_secs(60), ..UserOptions::default() };
        Analysis::new(files(text), Compilation::default(), options).map(|_| ())
    };
    let program = |body: &str| {
        format!(
            "declare i32 @pthread_create(ptr, ptr, ptr, ptr)\ndeclare void @work(i32)\n@d = global i32 0\n\
             define internal ptr @r(ptr %p) {{\n{body}ret ptr null\n}}\n\
             define i32 @main() {{\n%t = alloca i64\n{START}{WRITE}ret i32 0\n}}\n"
        )
    };
    let message = ask(&program("call void @work(i32 1)\n")).expect_err("nothing was looked at");
    assert!(message.contains("`work`, which is not in these files"), "{message}");
    assert_eq!(ask(&program(&format!("call void @work(i32 1)\n{WRITE}"))), Ok(()));
    assert_eq!(ask(&program("")), Ok(()), "nothing to do is nothing to go wrong");
}
