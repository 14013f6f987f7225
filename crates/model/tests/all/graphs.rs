//! Graphs: keys, splitting, violations, races, and robustness by its definition.

use expect_test::expect;
use seqcst_model::graph::Event;
use seqcst_model::oracle::{self, Candidate, Verdict};
use seqcst_model::sample::{Random, RandomProgram, Shape};
use seqcst_model::{Action, Graph, Loc, Mode, Model, Op, Outcome};
use std::ops::ControlFlow;

fn action(op: Op, loc: u8, mode: Mode) -> Action {
    Action { op, loc: Loc(loc), mode, failure: None, site: 0 }
}

fn drawn(seed: u64, non_atomic: bool) -> RandomProgram {
    let mut random = Random::new(seed);
    let shape = Shape { threads: 2, statements: 5, locations: 2, non_atomic, modulus: 3 };
    RandomProgram::draw(&mut random, shape)
}

/// Store buffering with both loads reading 0.
fn store_buffering() -> Graph {
    let mut graph = Graph::new(&[0, 0]);
    for thread in 0..2u8 {
        graph.add(thread.into(), &action(Op::Store(1), thread, Mode::Relaxed), Outcome::Wrote(1), None);
        let load = action(Op::Load, 1 - thread, Mode::Relaxed);
        graph.add(thread.into(), &load, Outcome::Read(0), Some(usize::from(1 - thread)));
    }
    graph
}

#[test]
fn a_violation_names_the_axiom_and_a_cycle() {
    let graph = store_buffering();
    assert_eq!(Model::Rc20.check(&graph), Ok(()));
    let violation = Model::Sc.check(&graph).unwrap_err();
    expect!["sc: sc fails on the cycle 2 → 3 → 4 → 5"].assert_eq(&violation.to_string());
    expect![[r#"
        0: init:Wrlx(x0,0)  mo-before 2
        1: init:Wrlx(x1,0)  mo-before 4
        2: 0.0:Wrlx(x0,1)
        3: 0.1:Rrlx(x1,0)  reads from 1
        4: 1.0:Wrlx(x1,1)
        5: 1.1:Rrlx(x0,0)  reads from 0
    "#]]
    .assert_eq(&graph.to_string());
}

#[test]
fn cycles_are_made_of_events_of_the_graph() {
    for seed in 0..60 {
        for model in Model::ALL {
            let _ = oracle::graphs(&drawn(seed, false).lower(model), 3_000, |Candidate { graph, .. }| {
                if let Err(violation) = model.check(graph) {
                    let cycle = &violation.cycle;
                    assert!(
                        !cycle.is_empty() && cycle.iter().all(|&event| event < graph.len()),
                        "{violation}\n{graph}"
                    );
                    // Whatever an axiom forbids, the events on its cycle are ordered one after the other by
                    // SC.
                    let hb_sc = graph.hb_sc();
                    let next = cycle.iter().cycle().skip(1);
                    assert!(
                        cycle.iter().zip(next).all(|(&a, &b)| hb_sc.contains(a, b)),
                        "{violation}\n{graph}"
                    );
                }
                ControlFlow::Continue(())
            });
        }
    }
}

#[test]
fn a_graph_keeps_its_key_when_its_events_are_renumbered() {
    let graph = store_buffering();
    let order = [0, 1, 4, 2, 5, 3];
    let place = |event: usize| order.iter().position(|&e| e == event).unwrap();
    let moved = |r: &seqcst_model::Relation| {
        seqcst_model::Relation::from_pairs(6, r.pairs().map(|(a, b)| (place(a), place(b))))
    };
    let events: Vec<Event> = order.iter().map(|&event| graph.events[event]).collect();
    let renumbered = Graph::from_parts(events, moved(&graph.rf), moved(&graph.mo));
    assert_eq!(renumbered.key(), graph.key());
    assert_eq!(renumbered.po, moved(&graph.po));

    let mut other = graph.clone();
    other.pop();
    assert_ne!(other.key(), graph.key());
}

#[test]
fn splitting_keeps_what_models_without_split_events_say() {
    for seed in 0..60 {
        let _ = oracle::graphs(&drawn(seed, false).lower(Model::Sc), 3_000, |Candidate { graph, .. }| {
            let (split, origin) = graph.split_rmws();
            assert_eq!(split.len(), graph.len() + graph.rmws().len());
            assert_eq!(split.rmws().len(), 0);
            assert_eq!(split.rmw.pairs().count(), graph.rmws().len());
            assert!(split.po.is_acyclic() && split.po.plus() == split.po);
            assert!(split.rf.pairs().all(|(w, r)| graph.rf.contains(origin[w], origin[r])));
            // SC on split graphs has atomicity as an axiom of its own ([Fency21] §II.B).
            let atomic = (&split.rmw & &split.fre().seq(&split.coe())).is_empty();
            assert_eq!(Model::Sc.allows(graph), split.hb_sc_steps().is_acyclic() && atomic, "{graph}");
            ControlFlow::Continue(())
        });
    }
}

#[test]
fn robust_is_what_its_definition_says() {
    let pairs = [
        (Model::Ra, Model::Sc),
        (Model::Rc20, Model::Sc),
        (Model::Rc20, Model::Ra),
        (Model::Tso, Model::Sc),
        (Model::ArmV8, Model::Sc),
        (Model::ArmV8, Model::Tso),
        (Model::ArmV7, Model::Sc),
        (Model::ArmV7, Model::ArmV8),
    ];
    for (weaker, than) in pairs {
        let mut not_robust = 0;
        for seed in 0..400 {
            let random_program = drawn(seed, false);
            let program = random_program.lower(weaker);
            let mut robust = true;
            let enumerated = oracle::graphs(&program, 30_000, |Candidate { graph, .. }| {
                robust &= than.allows(graph) || !weaker.allows(graph);
                if robust { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            });
            if enumerated.is_err() {
                continue;
            }
            let verdict = oracle::robust(&program, weaker, than, 1_000_000);
            assert_eq!(verdict.is_robust(), robust, "{weaker} against {than}\n{random_program}");
            if let Verdict::NotRobust(graph) = verdict {
                assert!(weaker.allows(&graph) && !than.allows(&graph), "{graph}");
                not_robust += 1;
            }
        }
        assert!(not_robust > 0, "nothing distinguishes {weaker} from {than}");
    }
}

/// \[Fency21] Fig. 1c: independent reads of independent writes, each reader's loads joined by an address dependency.
#[test]
fn dependencies_forbid_iriw_in_armv8_but_not_in_armv7() {
    let mut graph = Graph::new(&[0, 0]);
    let store = |loc| action(Op::Store(1), loc, Mode::Relaxed);
    let load = |loc| action(Op::Load, loc, Mode::Relaxed);
    let x = graph.add(0, &store(0), Outcome::Wrote(1), None).unwrap();
    let y = graph.add(1, &store(1), Outcome::Wrote(1), None).unwrap();
    for (thread, first, second, source) in [(2, 0, 1, x), (3, 1, 0, y)] {
        let a = graph.add(thread, &load(first), Outcome::Read(1), Some(source)).unwrap();
        let b = graph.add(thread, &load(second), Outcome::Read(0), Some(second.into())).unwrap();
        graph.addr.insert(a, b);
    }
    assert_eq!(Model::ArmV7.check(&graph), Ok(()));
    let violation = Model::ArmV8.check(&graph).unwrap_err();
    expect!["armv8: external fails on the cycle 2 → 4 → 5 → 3 → 6 → 7"].assert_eq(&violation.to_string());
    assert!(!Model::Tso.allows(&graph) && Model::Ra.allows(&graph));
}

/// A graph in one line: `W x`, `W.rel x`, `R x 0`, `R.acq x 1`, `R.pc x 1` (LDAPR), `F.st` (DMB ST). Every write is of 1.
fn of_arm(text: &str) -> Graph {
    let mut graph = Graph::new(&[0, 0]);
    for (thread, statements) in text.split(" || ").enumerate() {
        for statement in statements.split("; ") {
            let words: Vec<&str> = statement.split(' ').collect();
            let (kind, suffix) = words[0].split_once('.').unwrap_or((words[0], ""));
            let loc = words.get(1).map_or(0, |name| u8::from(*name == "y"));
            let mode = match suffix {
                "acq" => Mode::Acquire,
                "rel" => Mode::Release,
                _ => Mode::Relaxed,
            };
            let (op, outcome, from) = match kind {
                "W" => (Op::Store(1), Outcome::Wrote(1), None),
                "F" => (Op::Fence, Outcome::Fenced, None),
                _ if words[2] == "0" => (Op::Load, Outcome::Read(0), Some(loc.into())),
                _ => (Op::Load, Outcome::Read(1), None),
            };
            let event = graph.add(thread, &action(op, loc, mode), outcome, from).unwrap();
            match suffix {
                "pc" => graph.arm.ldapr.insert(event),
                "st" => graph.arm.dmb_st.insert(event),
                _ => {}
            }
        }
    }
    graph
}

/// DMB ST orders writes and nothing else; LDAPR comes before everything later, but may pass an earlier STLR.
#[test]
fn instructions_that_only_arm_has() {
    for (text, allowing) in [
        ("W x; W y || R.acq y 1; R x 0", "armv8 armv7"),
        ("W x; F.st; W y || R y 1; R x 0", "armv8 armv7"),
        ("W x; F.st; W y || R.acq y 1; R x 0", ""),
        ("W x; F.st; W y || R.pc y 1; R x 0", "armv7"),
        ("W x; W.rel y || R.pc y 1; R x 0", "armv7"),
        ("W x; F.st; R y 0 || W y; F.st; R x 0", "armv8 armv7"),
        ("W.rel x; R.acq y 0 || W.rel y; R.acq x 0", "armv7"),
        ("W.rel x; R.pc y 0 || W.rel y; R.pc x 0", "armv8 armv7"),
    ] {
        let graph = of_arm(text);
        let found = [Model::ArmV8, Model::ArmV7].into_iter().filter(|model| model.allows(&graph));
        assert_eq!(found.map(Model::name).collect::<Vec<_>>().join(" "), allowing, "{text}");
    }
}

/// Message passing of a non-atomic datum is free of races exactly if flag accesses synchronise.
#[test]
fn races_are_judged_by_happens_before() {
    use seqcst_model::sample::{Kind, Operand, Statement};
    let statement = |kind, loc, mode| Statement { guarded: false, kind, loc: Loc(loc), mode, failure: None };
    let one = Operand::Const(1);
    let message_passing = |before: Option<Mode>, store: Mode, load: Mode, after: Option<Mode>| {
        let fence = |mode: Option<Mode>| mode.map(|mode| statement(Kind::Fence, 0, mode));
        let mut sender = vec![statement(Kind::Store(one), 1, Mode::NonAtomic)];
        sender.extend(fence(before));
        sender.push(statement(Kind::Store(one), 0, store));
        let mut receiver = vec![statement(Kind::Wait(vec![1]), 0, load)];
        receiver.extend(fence(after));
        receiver.push(statement(Kind::Load, 1, Mode::NonAtomic));
        RandomProgram { modulus: 2, locations: 2, non_atomic: true, threads: vec![sender, receiver] }
    };
    let races = |program: &RandomProgram, model: Model| {
        oracle::races(&program.lower(model), model, 10_000).unwrap().is_some()
    };
    let (acquire, release, relaxed) = (Mode::Acquire, Mode::Release, Mode::Relaxed);
    assert!(races(&message_passing(None, relaxed, relaxed, None), Model::Rc20));
    assert!(races(&message_passing(None, release, relaxed, None), Model::Rc20));
    assert!(!races(&message_passing(None, release, acquire, None), Model::Rc20));
    assert!(!races(&message_passing(Some(release), relaxed, relaxed, Some(acquire)), Model::Rc20));
    assert!(!races(&message_passing(None, relaxed, relaxed, None), Model::Ra));

    // Fences do not synchronise through the non-atomic location itself.
    let na = Mode::NonAtomic;
    let sender = vec![statement(Kind::Fence, 0, release), statement(Kind::Store(one), 0, na)];
    let receiver = vec![statement(Kind::Load, 0, na), statement(Kind::Fence, 0, acquire)];
    let program =
        RandomProgram { modulus: 2, locations: 1, non_atomic: true, threads: vec![sender, receiver] };
    assert!(races(&program, Model::Rc20) && races(&program, Model::Ra));
}

#[test]
fn random_programs_print_in_tpl() {
    expect![[r#"
        max_value 2;
        global x;

        fn t0 {
            local r;
            r = x.load(rlx);
            if (r != 0) { x.store(2, rlx); }
        }

        fn t1 {
            local r;
            r = x.load(rlx);
            r = x.load(acq);
            x.store(r, rlx);
            x.store(2, rel);
        }
    "#]]
    .assert_eq(&RandomProgram::from_seed(7).to_string());
}

#[test]
fn models_have_names() {
    for model in Model::ALL {
        assert_eq!(model.name().parse(), Ok(model));
    }
    let unknown = "power".parse::<Model>().unwrap_err();
    expect!["no memory model is called `power` (there are sc, ra, rc11, rc20, tso, armv8, armv7)"]
        .assert_eq(&unknown.to_string());
}
