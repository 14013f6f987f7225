//! What clients a proof covers: those of one object, of any number of objects, or of the library's global state.

use super::{answers, library, scratch, text, write};

/// The answer about a library with this source.
#[track_caller]
fn covers(name: &str, source: &str) -> (String, serde_json::Value) {
    let path =
        write(&scratch(name), "it.c", &format!("#include <stdatomic.h>\n#include <stdlib.h>\n{source}"));
    let out = library(&[&path]);
    let first = text(&out.stdout).lines().next().unwrap_or_default().to_owned();
    let (code, mut said) = answers(&[&path]);
    assert_eq!((code, &said[0]["verdict"]), (Some(0), &"robust".into()), "{first}");
    (first, said.remove(0))
}

const REGISTER: &str = "struct reg { atomic_int value; };
    void set(struct reg *r, int v) { atomic_store_explicit(&r->value, v, memory_order_release); }
    int get(struct reg *r) { return atomic_load_explicit(&r->value, memory_order_acquire); }\n";

#[test]
fn two_registers_are_store_buffering() {
    let (first, said) = covers("register", REGISTER);
    assert!(first.contains("it.c for every client of one object (execution-graph) — "), "{first}");
    let two = &said["two_objects"];
    assert_eq!((&said["objects"], &two["confirmed"]), (&"one".into(), &true.into()));
    let threads = two["threads"].to_string();
    assert!(threads.contains("(&a") && threads.contains("(&b"), "{threads}");
    assert!(said["assumptions"].to_string().contains("clients use one object"), "{said}");
    let out = library(&["register-relaxed.c"]);
    let shown = text(&out.stdout);
    assert_eq!(out.status.code(), Some(0), "{shown}");
    assert!(shown.starts_with("robust: register-relaxed.c for every client of one object ("), "{shown}");
    assert!(shown.contains(
        "\n  not of several objects: this client of two (it does what SC does not allow)\n    thread 1: "
    ));
    let shown = text(&library(&["--no-try", "register-relaxed.c"]).stdout);
    assert!(shown.contains(" of one object (") && !shown.contains("several"), "{shown}");
}

/// Structures of which an empty one says so.
#[test]
fn a_stack_and_a_cell_are_for_one_object() {
    let (code, said) = answers(&["treiber.c"]);
    assert_eq!(
        (code, &said[0]["objects"], &said[0]["two_objects"]["confirmed"]),
        (Some(0), &"one".into(), &true.into())
    );
    let (_, said) = covers(
        "cell",
        "struct box { int value; };
         struct once { _Atomic(struct box *) cell; };
         int once_get(struct once *o, int v) {
             struct box *b = atomic_load_explicit(&o->cell, memory_order_acquire), *e = NULL;
             if (b) return b->value;
             struct box *n = malloc(sizeof *n);
             n->value = v;
             if (atomic_compare_exchange_strong_explicit(&o->cell, &e, n, memory_order_acq_rel, memory_order_acquire)) return v;
             return e->value;
         }\n",
    );
    assert_eq!((&said["objects"], &said["two_objects"]["confirmed"]), (&"one".into(), &true.into()));
}

/// Whoever accesses them knows all that others did before.
#[test]
fn locks_and_counters_are_for_any_number() {
    for file in ["ticket-lock.c", "spin-lock.c", "mpmc.c"] {
        let out = library(&[file]);
        let shown = text(&out.stdout);
        let first = format!("robust: {file} for every client of any number of objects (induced-subgraph) — ");
        assert!(shown.starts_with(&first), "{shown}");
    }
    let (first, said) = covers(
        "counter",
        "struct counter { atomic_int n; };
         int add(struct counter *c, int k) { return atomic_fetch_add_explicit(&c->n, k, memory_order_acq_rel); }\n",
    );
    assert!(first.contains(" for every client of any number of objects ("), "{first}");
    assert_eq!((&said["objects"], said.get("two_objects")), (&"any-number".into(), None));
    assert!(said["assumptions"].to_string().contains("every object begins as"), "{said}");
}

/// The same counters, which count in one global variable as well: objects are not apart.
#[test]
fn objects_that_share_memory_are_not_apart() {
    let (first, said) = covers(
        "shared",
        "struct counter { atomic_int n; };
         static atomic_int all;
         void add(struct counter *c, int k) {
             atomic_fetch_add_explicit(&c->n, k, memory_order_acq_rel);
             atomic_fetch_add_explicit(&all, k, memory_order_acq_rel);
         }\n",
    );
    assert_eq!(said["objects"], "one", "{first}");
}

#[test]
fn global_state_is_one_object() {
    let (code, said) = answers(&["register.c"]);
    assert_eq!((code, &said[0]["objects"]), (Some(0), &"global".into()));
    assert!(said[0]["assumptions"].to_string().contains("the library's state is global"), "{said:?}");
    let shown = text(&library(&["register.c"]).stdout);
    assert!(shown.starts_with("robust: register.c for every client of its global state ("), "{shown}");
}
