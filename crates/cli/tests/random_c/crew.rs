//! Many random programs in one C file: a crew of threads runs one after the other, several times each, with a barrier between;
//! or one of them runs once.

#![allow(dead_code)] // Each test uses its own half.

use crate::translate;
use seqcst_program::ast;
use seqcst_program::parse;

/// Threads that run the programs; those with more are left out.
const CREW: usize = 5;
/// How often each program runs.
const ROUNDS: usize = 30;

/// A random program.
pub struct Program {
    /// What it is called.
    pub name: String,
    /// As `seqcst check` reads it.
    pub tpl: String,
    /// Its part of the C file.
    pub c: String,
    /// The functions of its threads, with the number that each is given.
    threads: Vec<(String, u32)>,
}

impl Program {
    /// Translates a program, unless it has too many threads.
    pub fn new(name: String, tpl: &str) -> Option<Program> {
        let program = parse(tpl.as_bytes(), "drawn.tpl").ok()?.program;
        let id = name.replace('-', "_");
        let mut threads = Vec::new();
        for thread in &program.threads {
            let copies = thread.count.as_ref().map_or(1, |count| count.node);
            threads.extend((0..copies).map(|copy| (format!("{id}_{}", thread.name.node), copy)));
        }
        let c = declarations(&id, &program) + &translate::threads(&id, &program);
        (threads.len() <= CREW).then(|| Program { name, tpl: tpl.to_owned(), c, threads })
    }

    /// The name under which reports mention its lines.
    pub fn file(&self) -> String {
        format!("{}.c", self.name)
    }
}

/// The locations and what sets them to their initial values. In every other program they share one word.
fn declarations(id: &str, program: &ast::Program) -> String {
    let apart = id.ends_with(['1', '3', '5', '7', '9']);
    let (mut fields, mut resets) = (String::new(), String::new());
    for location in &program.locations {
        let (name, initial) = (&location.name.node, location.initial.as_ref().map_or(0, |value| value.node));
        let align = if apart { "_Alignas(16) " } else { "" };
        if location.non_atomic {
            fields += &format!("{align}value {name}; ");
            resets += &format!("{id}.{name} = {initial}; ");
        } else {
            fields += &format!("{align}_Atomic value {name}; ");
            resets += &format!("atomic_store_explicit(&{id}.{name}, {initial}, memory_order_relaxed); ");
        }
    }
    // Not static: clang does away with a variable that only ever holds its first value.
    format!("struct {{ {fields}}} {id};\nstatic void {id}_reset(void) {{ {resets}}}\n")
}

/// A C file with all of them, run by a crew.
pub fn translation_unit(programs: &[Program]) -> String {
    let programs: Vec<&Program> = programs.iter().collect();
    format!("{HEAD}enum {{ CREW = {CREW}, ROUNDS = {ROUNDS} }};\n{}{TAIL}", table(&programs))
}

/// A C file with all of them, of which an argument names one to be run once. For schedules that are chosen.
pub fn selected_by_argument(programs: &[&Program]) -> String {
    format!("#define SCHEDULED\n{HEAD}{}{ONCE}", table(programs))
}

fn table(programs: &[&Program]) -> String {
    let mut out = String::new();
    for program in programs {
        out += &format!("\n#line 1 \"{}\"\n{}", program.file(), program.c);
    }
    out += "\n#line 1 \"crew.c\"\nstatic const struct program programs[] = {\n";
    for program in programs {
        let id = program.name.replace('-', "_");
        let threads: Vec<String> = program.threads.iter().map(|(f, me)| format!("{{{f}, {me}}}")).collect();
        out += &format!("    {{{id}_reset, {}, {{{}}}}},\n", threads.len(), threads.join(", "));
    }
    out + "};\n"
}

const HEAD: &str = r#"#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

typedef unsigned char value;
struct source { unsigned state; };

static inline unsigned draw(struct source *source) {
    source->state = source->state * 1664525 + 1013904223;
    return source->state >> 16;
}

// Now and then threads take a while for a step, so that they meet in many ways.
#ifdef SCHEDULED
#define step(source)
#else
static inline void step(struct source *source) {
    unsigned drawn = draw(source);
    if (drawn % 4 == 0)
        for (unsigned left = drawn / 16 % 512; left > 0; left--)
            __asm__ volatile("");
    if (drawn % 64 == 1)
        sched_yield();
}
#endif

// The compiler must not leave out a load because nobody looks at its result.
#define keep(read) __asm__ volatile("" : : "r"(read))
#define strong_cas(at, expected, new, success, failure) \
    ({ value seen = (expected); atomic_compare_exchange_strong_explicit(at, &seen, (new), success, failure); seen; })
#define weak_cas(at, expected, new, success, failure) \
    ({ value seen = (expected); atomic_compare_exchange_weak_explicit(at, &seen, (new), success, failure); })

// See seqcst.h.
void seqcst_wait8(_Atomic value *at, value wanted, int order);
void seqcst_bcas8(_Atomic value *at, value old, value new, int order);
#define wait_for(at, wanted, order) ({ value sought = (wanted); seqcst_wait8(at, sought, order); sought; })
#define blocking_cas(at, old, new, order) ({ value sought = (old); seqcst_bcas8(at, sought, (new), order); sought; })

struct program {
    void (*reset)(void);
    int threads;
    struct { void (*body)(value, struct source *); value me; } thread[8];
};
"#;

const TAIL: &str = r#"
static pthread_barrier_t start, end;

static void *member(void *number) {
    int me = (int)(long)number;
    struct source source = {977u * me + 1};
    for (unsigned i = 0; i < sizeof programs / sizeof *programs; i++) {
        for (int round = 0; round < ROUNDS; round++) {
            pthread_barrier_wait(&start);
            int role = (me + round) % CREW;
            if (role < programs[i].threads)
                programs[i].thread[role].body(programs[i].thread[role].me, &source);
            pthread_barrier_wait(&end);
            if (me == 0)
                programs[i].reset();
        }
    }
    return NULL;
}

int main(void) {
    pthread_t crew[CREW];
    for (unsigned i = 0; i < sizeof programs / sizeof *programs; i++)
        programs[i].reset();
    pthread_barrier_init(&start, NULL, CREW);
    pthread_barrier_init(&end, NULL, CREW);
    for (long i = 0; i < CREW; i++)
        if (pthread_create(&crew[i], NULL, member, (void *)i) != 0)
            return 2;
    for (int i = 0; i < CREW; i++)
        pthread_join(crew[i], NULL);
}
"#;

const ONCE: &str = r#"
static const struct program *program;

static void *role(void *number) {
    struct source source = {0};
    program->thread[(long)number].body(program->thread[(long)number].me, &source);
    return NULL;
}

int main(int many, char **args) {
    pthread_t threads[8];
    if (many != 2)
        return 2;
    program = &programs[atoi(args[1])];
    program->reset();
    for (long i = 0; i < program->threads; i++)
        if (pthread_create(&threads[i], NULL, role, (void *)i) != 0)
            return 2;
    for (int i = 0; i < program->threads; i++)
        pthread_join(threads[i], NULL);
}
"#;
