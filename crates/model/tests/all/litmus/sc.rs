//! SC accesses and SC fences: which programs are robust where.

use super::notation::Litmus;
use seqcst_model::oracle::{self, Verdict};
use seqcst_model::{Mode, Model};

/// Name, program, and the models among RC11 and RC20 under which it is not robust.
///
/// RC20 takes an SC access for an SC fence and an access: too strong where another access of the thread is weaker (SB with
/// relaxed or release stores). C++20's text calls IRIW-relW, IRIW-rlxW, IRIW-1relW, RWC-relW, hbloc, SB-fwd and MP-lastweak
/// robust; x86 shows that SB-fwd is not.
#[rustfmt::skip]
const TABLE: &[(&str, &str, &str)] = &[
    ("SB",            "x=1.sc; a=y.sc || y=1.sc; b=x.sc",                                   ""),
    ("SB-brief",      "x=1; a=y.sc || y=1; b=x.sc",                                         "rc11"),
    ("SB+acq",        "x=1.sc; a=y.acq || y=1.sc; b=x.sc",                                  "rc11 rc20"),
    ("SB+rel",        "x=1.rel; a=y.sc || y=1.sc; b=x.sc",                                  "rc11"),
    ("SB+rmw",        "a=x+1.sc; b=y.sc || c=y+1.sc; d=x.sc",                               ""),
    ("Dekker-ar",     "a=x+1.sc; b=y.sc || c=y+1.acq_rel; d=x.sc",                          "rc11"),
    ("Dekker-ar-acq", "a=x+1.acq_rel; b=y.acq || c=y+1.acq_rel; d=x.acq",                   "rc11 rc20"),
    ("SB+rmwread",    "x=1.sc; a=y+0.sc || y=1.sc; b=x+0.sc",                               ""),
    ("SB+rmw0-ar",    "x=1.sc; a=y+0.acq_rel || y=1.sc; b=x+0.acq_rel",                     "rc11 rc20"),
    ("SB+rmw0-mix",   "x=1; a=y+0.acq_rel || y=1; b=x.sc",                                  "rc11 rc20"),
    ("SB+fen",        "x=1; F; a=y || y=1; F; b=x",                                         ""),
    ("SB+fen+sc",     "x=1; F; a=y || y=1.sc; b=x.sc",                                      ""),
    ("SB+fen+relsc",  "x=1; F; a=y || y=1.rel; b=x.sc",                                     "rc11"),
    ("SB+fen+scacq",  "x=1; F; a=y || y=1.sc; b=x.acq",                                     "rc11 rc20"),
    ("CAS-sc/sc",     "x=1.sc; a=cas(y,1,2).sc/sc || y=1.sc; b=x.sc",                       ""),
    ("CAS-sc/acq",    "x=1.sc; a=cas(y,1,2).sc/acq || y=1.sc; b=x.sc",                      "rc11"),
    ("CAS-sc/rlx",    "x=1.sc; a=cas(y,1,2).sc/rlx || y=1.sc; b=x.sc",                      "rc11"),
    ("CAS-lock/rlx",  "x=1.sc; a=cas(y,0,2).sc/rlx || y=1.sc; b=x.sc",                      ""),
    ("MP-rlx",        "x=1; y=1 || a=y; b=x",                                               "rc11 rc20"),
    ("MP-relacq",     "x=1; y=1.rel || a=y.acq; b=x",                                       ""),
    ("MP-sc",         "x=1; y=1.sc || a=y.sc; b=x",                                         ""),
    ("MP-scstore",    "x=1; y=1.sc || a=y; b=x",                                            "rc11 rc20"),
    ("MP-scload",     "x=1; y=1 || a=y.sc; b=x.sc",                                         "rc11 rc20"),
    ("MP-sc-rlxflag", "x=1.sc; y=1 || a=y.sc; b=x.sc",                                      "rc11 rc20"),
    ("MP-sc-rlxread", "x=1.sc; y=1.sc || a=y; b=x.sc",                                      "rc11"),
    ("MP-sc-rlxdata", "x=1.sc; y=1.sc || a=y.sc; b=x",                                      ""),
    ("MP-fenread",    "x=1.sc; y=1.sc || a=y; F; b=x.sc",                                   ""),
    ("IRIW-sc",       "x=1.sc || y=1.sc || a=x.sc; b=y.sc || c=y.sc; d=x.sc",               ""),
    ("IRIW-acq",      "x=1.sc || y=1.sc || a=x.acq; b=y.acq || c=y.acq; d=x.acq",           "rc11 rc20"),
    ("IRIW-acq-sc",   "x=1.sc || y=1.sc || a=x.acq; b=y.sc || c=y.acq; d=x.sc",             "rc11"),
    ("IRIW-1acq",     "x=1.sc || y=1.sc || a=x.sc; b=y.sc || c=y.acq; d=x.sc",              "rc11"),
    ("IRIW-relW",     "x=1.rel || y=1.rel || a=x.sc; b=y.sc || c=y.sc; d=x.sc",             "rc11"),
    ("IRIW-rlxW",     "x=1 || y=1 || a=x.sc; b=y.sc || c=y.sc; d=x.sc",                     "rc11"),
    ("IRIW-1relW",    "x=1.sc || y=1.rel || a=x.sc; b=y.sc || c=y.sc; d=x.sc",              "rc11"),
    ("IRIW-fences",   "x=1 || y=1 || a=x; F; b=y || c=y; F; d=x",                           ""),
    ("Z6.U",          "x=1.sc; y=1.rel || a=y+1.sc; b=y || y=2.sc; c=x.sc",                 "rc11 rc20"),
    ("Z6.U-sc",       "x=1.sc; y=1.sc || a=y+1.sc; b=y || y=2.sc; c=x.sc",                  ""),
    ("Z6-fence",      "x=1; F; y=1 || a=y+1; b=y || y=2; F; c=x",                           ""),
    ("RWC-syncs",     "x=1 || a=x; F; b=y || y=1; F; c=x",                                  ""),
    ("RWC-sc",        "x=1.sc || a=x.sc; b=y.sc || y=1.sc; c=x.sc",                         ""),
    ("RWC-acq-sc",    "x=1.sc || a=x.acq; b=y.sc || y=1.sc; c=x.sc",                        "rc11"),
    ("RWC-relW",      "x=1.rel || a=x.sc; b=y.sc || y=1.sc; c=x.sc",                        "rc11"),
    ("W+RWC-fen",     "x=1; y=1.rel || a=y.acq; F; b=z || z=1; F; c=x",                     ""),
    ("W+RWC-sc",      "x=1.sc; y=1.rel || a=y.acq; b=z.sc || z=1.sc; c=x.sc",               ""),
    ("W+RWC-rlxW",    "x=1; y=1.rel || a=y.acq; b=z.sc || z=1.sc; c=x.sc",                  "rc11"),
    ("F-hb-sc",       "z=1; F; y=1 || a=y.acq; b=x.sc || x=1.sc; c=z.sc",                   ""),
    ("2+2W-sc",       "x=1.sc; y=2.sc || y=1.sc; x=2.sc",                                   ""),
    ("2+2W-1rel",     "x=1.sc; y=2.sc || y=1.sc; x=2.rel",                                  "rc11 rc20"),
    ("2+2W-rel",      "x=1.rel; y=2.rel || y=1.rel; x=2.rel",                               "rc11 rc20"),
    ("R-sc",          "x=1.sc; y=1.sc || y=2.sc; a=x.sc",                                   ""),
    ("R-rel",         "x=1.sc; y=1.rel || y=2.sc; a=x.sc",                                  "rc11 rc20"),
    ("R-acq",         "x=1.sc; y=1.sc || y=2.sc; a=x.acq",                                  "rc11 rc20"),
    ("S-sc",          "x=2.sc; y=1.sc || a=y.sc; x=1.sc",                                   ""),
    ("S-rlxW",        "x=2; y=1.sc || a=y.sc; x=1",                                         ""),
    ("LB-rlx",        "a=x; y=1 || b=y; x=1",                                               ""),
    ("hbloc",         "x=1.sc; a=y.sc || y=1.sc; y=2.rel || b=y.sc; c=x.sc",                "rc11"),
    ("hbloc-acq",     "x=1.sc; a=y.sc || y=1.sc; y=2.rel || b=y.acq; c=x.sc",               "rc11"),
    ("run",           "x=1.sc; a=y.sc || y=1.sc; z=1.rel || b=z.acq; c=x.sc",               ""),
    ("ISA2-fen",      "x=1; F; y=1 || a=y; z=1 || b=z; F; c=x",                             "rc11"),
    ("Peterson-ish",  "x=1.sc; z=1.sc; a=y.sc || y=1.sc; z=2.sc; b=x.sc",                   ""),
    ("Peterson-rel",  "x=1.rel; a=z+1.acq_rel; b=y.acq || y=1.rel; c=z+1.acq_rel; d=x.acq", ""),
    ("Peterson-turn", "x=1; a=z+1.sc; b=y || y=1; c=z+1.sc; d=x",                           ""),
    ("SB-fwd",        "x=1; a=x.sc; b=y.sc || y=1; c=y.sc; d=x.sc",                         "rc11"),
    ("SB-selfsc",     "x=1.sc; a=x; b=y.sc || y=1.sc; c=y; d=x.sc",                         ""),
    ("MP-lastweak",   "x=1.sc; a=y.sc || y=1.sc; b=y+1.acq_rel || c=y.sc; d=x.sc",          "rc11"),
];

fn is_robust(program: &Litmus, model: Model) -> bool {
    match oracle::robust(&program.program.lower(model), model, Model::Sc, 2_000_000) {
        Verdict::Robust => true,
        Verdict::NotRobust(_) => false,
        Verdict::TooBig => panic!("too big"),
    }
}

#[test]
fn table() {
    let mut wrong = String::new();
    for (name, program, expected) in TABLE {
        let litmus = Litmus::parse(program, "");
        let models = [Model::Rc11, Model::Rc20].into_iter();
        let found: Vec<&str> = models.filter(|&m| !is_robust(&litmus, m)).map(Model::name).collect();
        let found = found.join(" ");
        if found != *expected {
            wrong += &format!("{name}: {program} is not robust under [{found}], not [{expected}]\n");
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// Store buffering is robust only if all four accesses are SC.
#[test]
fn store_buffering_in_all_orders() {
    let stores = [Mode::Relaxed, Mode::Release, Mode::SeqCst];
    let loads = [Mode::Relaxed, Mode::Acquire, Mode::SeqCst];
    for [a, c] in stores.iter().flat_map(|&a| stores.map(|c| [a, c])) {
        for [b, d] in loads.iter().flat_map(|&b| loads.map(|d| [b, d])) {
            let mut litmus = Litmus::parse("x=1; a=y || y=1; b=x", "");
            let places = litmus.program.threads.iter_mut().flatten();
            places.zip([a, b, c, d]).for_each(|(statement, mode)| statement.mode = mode);
            let all_sc = [a, b, c, d] == [Mode::SeqCst; 4];
            assert_eq!(is_robust(&litmus, Model::Rc11), all_sc, "{a} {b} {c} {d}");
        }
    }
}
