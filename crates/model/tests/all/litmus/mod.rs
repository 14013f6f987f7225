//! Litmus tests: which models allow the famous weak behaviours.

mod notation;
mod sc;

use notation::Litmus;
use seqcst_model::Model;

/// Name, program, what is observed at the end, and the models that allow it.
///
/// Accesses are relaxed unless said otherwise. `F` is an SC fence, `F.rel` a release fence, `a=x+1` a
/// fetch-and-add, `?s` the statement `s` executed only if the value read last is not 0.
#[rustfmt::skip]
const TABLE: &[(&str, &str, &str, &str)] = &[
    // Store buffering: SC fences forbid it everywhere, release/acquire nowhere but in ARMv8, where STLR;LDAR
    // is ordered.
    ("SB",          "x=1; a=y || y=1; b=x",                               "a=0 b=0", "ra rc11 rc20 tso armv8 armv7"),
    ("SB+F+F",      "x=1; F; a=y || y=1; F; b=x",                         "a=0 b=0", ""),
    ("SB+F",        "x=1; F; a=y || y=1; b=x",                            "a=0 b=0", "ra rc11 rc20 tso armv8 armv7"),
    ("SB+ra",       "x=1.rel; a=y.acq || y=1.rel; b=x.acq",               "a=0 b=0", "ra rc11 rc20 tso armv7"),
    ("SB+sc",       "x=1.sc; a=y.sc || y=1.sc; b=x.sc",                   "a=0 b=0", ""),
    ("SB+acqrel F", "x=1; F.acq_rel; a=y || y=1; F.acq_rel; b=x",         "a=0 b=0", "ra rc11 rc20 tso"),
    ("SB+rmws",     "a=x+1; b=y || c=y+1; d=x",                           "b=0 d=0", "ra rc11 rc20 armv8 armv7"),
    ("SB+sc rmws",  "a=x+1.sc; b=y || c=y+1.sc; d=x",                     "b=0 d=0", "ra rc11 rc20 armv8"),
    ("SB+rfi",      "x=1; a=x; b=y || y=1; c=y; d=x",           "a=1 b=0 c=1 d=0", "ra rc11 rc20 tso armv8 armv7"),
    ("SB+rfi+acq",  "x=1; a=x.acq; b=y || y=1; c=y.acq; d=x",   "a=1 b=0 c=1 d=0", "ra rc11 rc20 tso armv8"),
    ("n6",          "x=1; a=x; b=y || y=2; x=2",                    "a=1 b=0 x=1", "ra rc11 rc20 tso armv8 armv7"),

    // Message passing.
    ("MP",          "x=1; y=1 || a=y; b=x",                               "a=1 b=0", "rc11 rc20 armv8 armv7"),
    ("MP+rel+acq",  "x=1; y=1.rel || a=y.acq; b=x",                       "a=1 b=0", ""),
    ("MP+rel",      "x=1; y=1.rel || a=y; b=x",                           "a=1 b=0", "rc11 rc20 armv8 armv7"),
    ("MP+acq",      "x=1; y=1 || a=y.acq; b=x",                           "a=1 b=0", "rc11 rc20 armv8 armv7"),
    ("MP+fences",   "x=1; F.rel; y=1 || a=y; F.acq; b=x",                 "a=1 b=0", ""),
    ("MP+F.rel",    "x=1; F.rel; y=1 || a=y; b=x",                        "a=1 b=0", "rc11 rc20 armv8 armv7"),
    ("MP+F.acq",    "x=1; y=1 || a=y; F.acq; b=x",                        "a=1 b=0", "rc11 rc20 armv8 armv7"),
    ("MP+F+ctrl",   "x=1; F; y=1 || a=y; ?b=x",                           "a=1 b=0", "rc11 rc20 armv8 armv7"),
    ("MP+relseq",   "x=1; y=1.rel || a=y+1 || b=y.acq; c=x",          "a=1 b=2 c=0", ""),
    ("MP+rewrite",  "x=1; y=1.rel; y=2 || b=y.acq; c=x",                  "b=2 c=0", "rc11 rc20"),

    // Load buffering: only ARM, and there not against dependencies in both threads.
    ("LB",          "a=x; y=1 || b=y; x=1",                               "a=1 b=1", "armv8 armv7"),
    ("LB+data",     "a=x; y=a || b=y; x=1",                               "a=1 b=1", "armv8 armv7"),
    ("LB+ctrl",     "a=x; ?y=1 || b=y; x=1",                              "a=1 b=1", "armv8 armv7"),
    ("LB+ctrls",    "a=x; ?y=1 || b=y; ?x=1",                             "a=1 b=1", ""),
    ("LB+acqs",     "a=x.acq; y=1 || b=y.acq; x=1",                       "a=1 b=1", ""),
    ("LB+rels",     "a=x; y=1.rel || b=y; x=1.rel",                       "a=1 b=1", ""),

    // Independent reads of independent writes: ARMv8 is multi-copy atomic, ARMv7 needs its fences.
    ("IRIW",        "x=1 || a=x; b=y || c=y; d=x || y=1",       "a=1 b=0 c=1 d=0", "ra rc11 rc20 armv8 armv7"),
    ("IRIW+acqs",   "x=1.rel || a=x.acq; b=y || c=y.acq; d=x || y=1.rel",
                                                                "a=1 b=0 c=1 d=0", "ra rc11 rc20"),
    ("IRIW+Fs",     "x=1 || a=x; F; b=y || c=y; F; d=x || y=1", "a=1 b=0 c=1 d=0", ""),
    ("RWC",         "x=1 || a=x; b=y || y=1; c=x",                    "a=1 b=0 c=0", "ra rc11 rc20 tso armv8 armv7"),
    ("RWC+acq+F",   "x=1 || a=x.acq; b=y || y=1; F; c=x",             "a=1 b=0 c=0", "ra rc11 rc20"),

    // Write-to-read causality: data dependencies are cumulative in ARMv8, not in ARMv7.
    ("WRC",         "x=1 || a=x; y=1 || b=y; c=x",                    "a=1 b=1 c=0", "rc11 rc20 armv8 armv7"),
    ("WRC+ra",      "x=1 || a=x.acq; y=1.rel || b=y.acq; c=x",        "a=1 b=1 c=0", ""),
    ("WRC+data+acq","x=1 || a=x; y=a || b=y.acq; c=x",                "a=1 b=1 c=0", "rc11 rc20 armv7"),
    ("ISA2",        "x=1; y=1 || a=y; z=1 || b=z; c=x",               "a=1 b=1 c=0", "rc11 rc20 armv8 armv7"),
    ("ISA2+ra",     "x=1; y=1.rel || a=y.acq; z=1.rel || b=z.acq; c=x", "a=1 b=1 c=0", ""),
    ("ISA2+F+data", "x=1; F; y=1 || a=y; z=a || b=z.acq; c=x",        "a=1 b=1 c=0", "rc11 rc20"),

    // Writes against writes.
    ("2+2W",        "x=1; y=2 || y=1; x=2",                               "x=1 y=1", "ra rc11 rc20 armv8 armv7"),
    ("2+2W+rels",   "x=1; y=2.rel || y=1; x=2.rel",                       "x=1 y=1", "ra rc11 rc20"),
    ("2+2W+Fs",     "x=1; F; y=2 || y=1; F; x=2",                         "x=1 y=1", ""),
    ("R",           "x=1; y=1 || y=2; a=x",                               "a=0 y=2", "ra rc11 rc20 tso armv8 armv7"),
    ("R+Fs",        "x=1; F; y=1 || y=2; F; a=x",                         "a=0 y=2", ""),
    ("S",           "x=2; y=1 || a=y; x=1",                               "a=1 x=2", "rc11 rc20 armv8 armv7"),
    ("S+rel+acq",   "x=2; y=1.rel || a=y.acq; x=1",                       "a=1 x=2", ""),
    ("S+rel+data",  "x=2; y=1.rel || a=y; x=a",                           "a=1 x=2", "rc11 rc20"),

    // Coherence and atomicity: forbidden everywhere.
    ("CoRR",        "x=1 || a=x; b=x",                                    "a=1 b=0", ""),
    ("CoWW",        "x=1; x=2",                                           "x=1",     ""),
    ("CoRW1",       "a=x; x=1",                                           "a=1",     ""),
    ("CoRW2",       "x=1 || a=x; x=2",                                    "a=1 x=1", ""),
    ("CoWR",        "x=1; a=x || x=2",                                    "a=2 x=1", ""),
    ("2RMW",        "a=x+1 || b=x+1",                                     "a=0 b=0", ""),
    ("RMW+W",       "a=x+1 || x=2",                                       "a=0 x=1", ""),
    ("CAS+CAS",     "a=cas(x,0,1) || b=cas(x,0,2)",                       "a=0 b=0", ""),

    // [Fency21] Fig. 2 and Fig. 4: coherence does not order a load before a store in ARMv7, and `co` is not in
    // its happens-before.
    ("ARM-Weak",    "a=x; x=1 || b=x; y=b || c=y; x=c",                   "a=1",     "armv7"),
    ("ARM-Weak+Fs", "a=x; x=1 || b=x; F; y=b || c=y; F; x=c",             "a=1",     ""),
    ("WP",          "a=t; x=a || x=2 || b=x; y=b || c=y; z=c || z=1 || d=z; t=d",
                                                    "a=1 b=2 c=2 d=1 x=2 z=1", "ra rc11 rc20 armv7"),
];

#[test]
fn table() {
    let mut wrong = String::new();
    for (name, program, observed, allowed) in TABLE {
        let litmus = Litmus::parse(program, observed);
        let found: Vec<String> = Model::ALL
            .into_iter()
            .filter(|&model| litmus.allowed(model))
            .map(|model| model.to_string())
            .collect();
        let found = found.join(" ");
        if found != *allowed {
            wrong += &format!("{name}: {program} may end with {observed} in [{found}], not [{allowed}]\n");
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// A strong observation is one that SC allows, and then every model does.
#[test]
fn every_model_allows_the_behaviours_of_sc() {
    for (_, program, _, _) in TABLE {
        let litmus = Litmus::parse(program, "");
        let under_sc = litmus.observations(Model::Sc);
        for model in Model::ALL {
            assert!(litmus.observations(model).is_superset(&under_sc), "{model}: {program}");
        }
    }
}
