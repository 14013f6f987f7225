//! What hangs on C's conversions and on wrap-around: two methods that are not robust together, each behind a condition. If it can
//! hold, there is no proof, and if it can't, there is one.

use seqcst_c11 as c;
use seqcst_proof::prove::{Options, Outcome, prove};
use seqcst_proof::rho;
use std::time::Duration;

const HEAD: &str = "
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
static atomic_int x, y;
static int tab[6];
#define LOAD(x) atomic_load_explicit(&x, memory_order_relaxed)
#define STORE(x, value) atomic_store_explicit(&x, value, memory_order_relaxed)
#define ADD(x, value) atomic_fetch_add_explicit(&x, value, memory_order_relaxed)
";

/// Declarations, parameters, what comes first, the condition, and whether it can hold.
const CONDITIONS: [(&str, &str, &str, &str, bool); 36] = [
    ("", "int i", "", "i < 0 && i > (int)2 && 1", false),
    ("", "int i", "", "i < 0 && i > sizeof tab / sizeof *tab", true),
    ("", "int i", "", "i < 0 && i >= 0u", true),
    ("", "int i", "", "i == -1 && i > 5u", true),
    ("", "int i", "", "i < 0 && (unsigned)i > 5u", true),
    ("", "int i", "", "i < 0 && (long)i > 5", false),
    ("", "unsigned i", "", "i + 1 == 0", true),
    ("", "unsigned i", "", "i + 1ul == 0", false),
    ("", "unsigned char i", "", "i + 1 == 0", false),
    ("", "unsigned char i", "", "(unsigned char)(i + 1) == 0", true),
    ("", "unsigned char i", "", "i > 255", false),
    ("", "signed char i", "", "i == 128", false),
    ("", "short i", "", "i == 40000", false),
    ("", "unsigned short i", "", "i == 40000", true),
    ("", "uint64_t w", "", "w != 0 && (uint32_t)w == 0", true),
    ("", "uint32_t w", "", "w != 0 && (uint32_t)w == 0", false),
    ("", "bool b", "", "b == 2", false),
    ("", "int i", "bool b = i;", "i == 256 && b != 1", false),
    ("", "int i", "unsigned char b = i;", "i == 256 && b == 0", true),
    ("", "unsigned i", "", "i != 0 && i << 4 == 0", true),
    ("", "unsigned i", "", "i - 1 > i", true),
    ("", "int i", "", "-i > 0 && i > 0", false),
    ("", "unsigned i", "", "-i > 1 && i > 1 && -i == i", true),
    ("", "unsigned i", "", "~i == 0", true),
    ("", "size_t i", "", "i == SIZE_MAX", true),
    ("enum e { A, B };", "enum e e", "", "e < 0", false),
    ("", "unsigned i", "i += UINT_MAX;", "i == 0", true),
    ("static atomic_uint t = ~0u;", "void", "", "LOAD(t) == 0xffffffffu", true),
    ("static atomic_uint t = ~0u;", "void", "", "LOAD(t) == -1", true),
    ("static atomic_uint t = ~0u;", "void", "", "LOAD(t) == -1l", false),
    ("static atomic_uint t;", "void", "STORE(t, -1);", "LOAD(t) == UINT_MAX", true),
    ("static atomic_uint t;", "void", "ADD(t, -1);", "LOAD(t) == UINT_MAX", true),
    ("static atomic_schar t = 127;", "void", "ADD(t, 1);", "LOAD(t) == -128", true),
    ("static atomic_int t = INT_MAX;", "void", "", "ADD(t, 1) < 0", true),
    ("static atomic_uint t = UINT_MAX;", "void", "unsigned u = LOAD(t);", "u == UINT_MAX", true),
    ("static atomic_bool t;", "int i", "STORE(t, i);", "LOAD(t) > 1", false),
];

fn outcome(text: &str) -> Outcome {
    let library =
        c::read("lib.c", text.as_bytes(), &c::Options::default()).unwrap_or_else(|e| panic!("{e}\n{text}"));
    // What has no proof is not looked at for long.
    let options = Options { time_limit: Some(Duration::from_secs(3)), ..Options::default() };
    prove(&rho::apply(&library).library, &mut super::pool(false), &options)
        .expect("the solver understands all questions")
}

#[test]
fn conditions_hold_where_they_do_in_c() {
    let mut wrong = String::new();
    for (declarations, parameters, first, condition, can_hold) in CONDITIONS {
        let method = |name: &str, mine: &str, other: &str| {
            format!(
                "int {name}({parameters}) {{ {first} if (!({condition})) return 0; \
                 atomic_store_explicit(&{mine}, 1, memory_order_relaxed); \
                 return atomic_load_explicit(&{other}, memory_order_relaxed); }}\n"
            )
        };
        let text = format!("{HEAD}{declarations}\n{}{}", method("f", "x", "y"), method("g", "y", "x"));
        let outcome = outcome(&text);
        // What else there is may be unproved.
        let is_proved = outcome.classes.iter().take(2).all(|class| class.failure.is_none());
        if is_proved == can_hold {
            wrong += &format!("{declarations} {parameters}: {first} {condition}\n");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// A lock whose tickets are numbers of a type.
fn ticket_lock(ty: &str) -> Outcome {
    let text =
        std::fs::read_to_string(super::folder().join("ticket-lock.c")).expect("the corpus can be read");
    outcome(
        &text
            .replace("atomic_uint", &format!("_Atomic {ty}"))
            .replace("unsigned mine", &format!("{ty} mine")),
    )
}

#[test]
fn counters_do_not_wrap_around_only_if_the_answer_says_so() {
    for (ty, bits) in [("unsigned", 32), ("unsigned long", 63), ("int", 31)] {
        let outcome = ticket_lock(ty);
        assert!(outcome.is_robust(), "{ty}: {:#?}", outcome.classes);
        let wanted = format!("`next` counts on without wrapping around: its numbers stay below 2^{bits}");
        assert!(outcome.assumptions.contains(&wanted), "{ty}: {:#?}", outcome.assumptions);
    }
    // After 256 calls, tickets come again.
    assert!(!ticket_lock("unsigned char").is_robust());
}

/// They wrap around at 2^32, though their class has room for more.
#[test]
fn numbers_that_are_cut_are_no_counters() {
    for (ty, cut, is_counter) in [
        ("unsigned long", "unsigned", false),
        ("unsigned long", "unsigned long", true),
        ("unsigned", "unsigned long", true),
        ("long", "int", false),
    ] {
        let text = format!(
            "{HEAD}_Atomic {ty} n; {ty} next(void) {{
                 {ty} old = atomic_load_explicit(&n, memory_order_relaxed);
                 while (!atomic_compare_exchange_weak(&n, &old, ({cut})(old + 1ul))) ;
                 return old;
             }}"
        );
        let said = outcome(&text).assumptions;
        assert_eq!(
            said.iter().any(|it| it.starts_with("`n` counts on")),
            is_counter,
            "{ty} {cut}: {said:#?}"
        );
    }
}

/// Under SC nobody divides by 0, or shifts by too much, here: with weak memory they may, by a value that is out of date.
#[test]
fn what_only_weak_memory_leaves_undefined_counts() {
    for (result, order, read, is_robust) in [
        ("k % s", "relaxed", "relaxed", false),
        ("1u << (35 - s)", "relaxed", "relaxed", false),
        ("1 << (s & 3)", "relaxed", "relaxed", false),
        ("k % s", "acq_rel", "acquire", true),
    ] {
        let text = format!(
            "{HEAD}static atomic_int size, flag;
             void init(void) {{
                 int s = 0, f = 0;
                 atomic_compare_exchange_strong_explicit(&size, &s, 4, memory_order_relaxed, memory_order_relaxed);
                 atomic_compare_exchange_strong_explicit(&flag, &f, 1, memory_order_{order}, memory_order_relaxed);
             }}
             int get(int k) {{
                 if (!atomic_load_explicit(&flag, memory_order_{read}))
                     return -1;
                 int s = atomic_load_explicit(&size, memory_order_relaxed);
                 return {result};
             }}"
        );
        let outcome = outcome(&text);
        assert_eq!(outcome.is_robust(), is_robust, "{result} {order}: {:#?}", outcome.classes);
    }
}

#[test]
fn initialisation_is_no_atomic_access() {
    let get = "int get(void) { return atomic_load_explicit(&x, memory_order_acquire); }";
    for (set, is_robust) in [
        ("atomic_store_explicit(&x, k, memory_order_relaxed);", true),
        ("atomic_init(&x, k);", false),
        ("atomic_thread_fence(memory_order_seq_cst); atomic_init(&x, k);", false),
    ] {
        let text = format!("{HEAD}{get} void set(int k) {{ {set} }}");
        assert_eq!(outcome(&text).is_robust(), is_robust, "{set}");
    }
    // Nobody else knows the record yet.
    let text = format!(
        "{HEAD}#include <stdlib.h>
        struct n {{ atomic_int v; }}; static _Atomic(struct n *) p;
        void set(int k) {{
            struct n *n = malloc(sizeof *n);
            atomic_init(&n->v, k);
            atomic_store_explicit(&p, n, memory_order_release);
        }}
        int get(void) {{
            struct n *n = atomic_load_explicit(&p, memory_order_acquire);
            return n ? atomic_load_explicit(&n->v, memory_order_relaxed) : 0;
        }}"
    );
    assert!(outcome(&text).is_robust(), "{:#?}", outcome(&text).classes);
    let late = text.replace("memory_order_release", "memory_order_relaxed");
    assert!(!outcome(&late).is_robust());
}
