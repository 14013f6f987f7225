//! Graphs of more than 64 events: what is known of narrow ones holds for wide ones.

use seqcst_model::oracle;
use seqcst_model::sample::{Random, RandomProgram};
use seqcst_model::{Event, Graph, Loc, Mode, Model, Outcome, Relation, Set};

fn widen<const W: usize>(graph: &Graph) -> Graph<W> {
    let wide = |r: &Relation| Relation::from_pairs(r.len(), r.pairs());
    Graph {
        events: graph.events.clone(),
        po: wide(&graph.po),
        rf: wide(&graph.rf),
        mo: wide(&graph.mo),
        addr: wide(&graph.addr),
        data: wide(&graph.data),
        ctrl: wide(&graph.ctrl),
        rmw: wide(&graph.rmw),
        ..Graph::default()
    }
}

/// Every model says the same about a graph, however wide it is stored.
#[test]
fn width_changes_no_verdict() {
    let mut graphs = 0;
    for seed in 0..300 {
        let program = RandomProgram::from_seed(seed).lower(Model::Rc20);
        if let oracle::Verdict::NotRobust(graph) = oracle::robust(&program, Model::Rc20, Model::Sc, 100_000) {
            for model in Model::ALL {
                assert_eq!(model.check(&*graph), model.check(&widen::<3>(&graph)), "{model}, seed {seed}");
            }
            graphs += 1;
        }
    }
    assert!(graphs > 10, "only {graphs} graphs");
}

#[test]
fn sets_across_words() {
    let mut random = Random::new(3);
    for _ in 0..300 {
        let mut events: Vec<usize> = (0..random.below(40)).map(|_| random.below(190)).collect();
        let set: Set<3> = events.iter().copied().collect();
        events.sort_unstable();
        events.dedup();
        assert_eq!(set.iter().collect::<Vec<_>>(), events);
        assert_eq!(set.len(), events.len());
        for event in 0..200 {
            assert_eq!(set.contains(event), events.contains(&event));
            let first: Set<3> = Set::first(event);
            assert_eq!(first.len(), event.min(192));
            assert_eq!((set - first).len(), events.iter().filter(|e| **e >= event).count());
            assert_eq!((!set).contains(event), event < 192 && !events.contains(&event));
        }
    }
}

/// Store buffering after a hundred rounds of nothing in particular.
#[test]
fn a_long_violation() {
    let event = |thread: usize, index: usize, loc: u8, outcome: Outcome| Event {
        thread: Some(thread),
        index,
        loc: Some(Loc(loc)),
        mode: Mode::Relaxed,
        outcome,
        site: 0,
    };
    let mut graph: Graph<8> = Graph::default();
    let init: Vec<_> =
        (0..3).map(|x| graph.push(Event::initial(Loc(x), 0), None).expect("there is room")).collect();
    let mut last = init[2];
    for round in 0..100 {
        for thread in 0..2 {
            let outcome = Outcome::Updated(2 * round + thread as u32, 2 * round + thread as u32 + 1);
            let event = event(thread, round as usize, 2, outcome);
            last = graph.push(event, Some(last)).expect("there is room");
        }
    }
    for thread in 0..2 {
        graph.push(event(thread, 100, thread as u8, Outcome::Wrote(1)), Some(init[thread]));
        graph.push(event(thread, 101, 1 - thread as u8, Outcome::Read(0)), Some(init[1 - thread]));
    }
    assert_eq!(graph.len(), 207);
    for model in [Model::Ra, Model::Rc20, Model::Tso] {
        assert!(model.allows(&graph), "{model}");
    }
    let violation = Model::Sc.check(&graph).expect_err("store buffering");
    assert_eq!(violation.cycle, [203, 204, 205, 206]);
}
