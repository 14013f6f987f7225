//! Laws of the relation algebra, on random relations and against their definitions by quantifiers.

use seqcst_model::sample::Random;
use seqcst_model::{Relation, Set};

const EVENTS: usize = 9;

fn relation(random: &mut Random) -> Relation {
    let pairs = random.below(14);
    let event = |random: &mut Random| random.below(EVENTS);
    Relation::from_pairs(EVENTS, (0..pairs).map(|_| (event(random), event(random))).collect::<Vec<_>>())
}

fn each(mut law: impl FnMut(&Relation, &Relation, &Relation, Set)) {
    let mut random = Random::new(1);
    for _ in 0..2000 {
        let (r, s, t) = (relation(&mut random), relation(&mut random), relation(&mut random));
        law(&r, &s, &t, Set([random.draw()]) & Set::first(EVENTS));
    }
}

#[test]
fn composition_and_inverse() {
    each(|r, s, t, _| {
        assert_eq!(r.seq(s).seq(t), r.seq(&s.seq(t)));
        assert_eq!(r.seq(s).inverse(), s.inverse().seq(&r.inverse()));
        assert_eq!(r.inverse().inverse(), *r);
        assert_eq!((r | s).seq(t), r.seq(t) | s.seq(t));
        let by_definition = |a, c| (0..EVENTS).any(|b| r.contains(a, b) && s.contains(b, c));
        let pairs = (0..EVENTS).flat_map(|a| (0..EVENTS).map(move |c| (a, c)));
        assert_eq!(r.seq(s), Relation::from_pairs(EVENTS, pairs.filter(|&(a, c)| by_definition(a, c))));
    });
}

#[test]
fn boolean_operators() {
    each(|r, s, t, _| {
        assert_eq!(r | s, s | r);
        assert_eq!(r & &(s | t), (r & s) | (r & t));
        assert_eq!(&(r - s) & s, Relation::empty(EVENTS));
        assert_eq!((r - s) | (r & s), *r);
        assert!((r & s).is_subset(r) && r.is_subset(&(r | s)));
    });
}

#[test]
fn closures() {
    each(|r, _, _, _| {
        let plus = r.plus();
        assert!(r.is_subset(&plus) && plus.seq(&plus).is_subset(&plus));
        let mut steps = r.clone();
        for _ in 0..EVENTS {
            steps = r | &steps.seq(r);
        }
        assert_eq!(plus, steps);
        assert_eq!(r.maybe(), r | &Relation::identity(EVENTS, Set::first(EVENTS)));
        assert_eq!(r.star(), plus.maybe());
    });
}

#[test]
fn restriction() {
    each(|r, _, _, set| {
        let identity = Relation::identity(EVENTS, set);
        assert_eq!(r.from(set), identity.seq(r));
        assert_eq!(r.to(set), r.seq(&identity));
        assert_eq!(r.within(set, set), r & &Relation::product(EVENTS, set, set));
        assert_eq!(r.domain(), r.inverse().codomain());
        (0..EVENTS).for_each(|b| assert_eq!(r.before(b), r.inverse().after(b)));
    });
}

#[test]
fn cycles_and_paths() {
    each(|r, _, _, _| {
        assert_eq!(r.is_acyclic(), r.plus().is_irreflexive());
        assert_eq!(r.shortest_cycle().is_none(), r.is_acyclic());
        if let Some(cycle) = r.shortest_cycle() {
            let next = cycle.iter().cycle().skip(1);
            assert!(cycle.iter().zip(next).all(|(&a, &b)| r.contains(a, b)), "{r:?} {cycle:?}");
            assert!(
                cycle.iter().copied().collect::<Set>().len() == cycle.len(),
                "{cycle:?} visits an event twice"
            );
        }
        for (a, b) in (0..EVENTS).flat_map(|a| (0..EVENTS).map(move |b| (a, b))) {
            let path = r.shortest_path(a, b);
            assert_eq!(path.is_some(), r.plus().contains(a, b));
            if let Some(path) = path {
                assert!(path.first() == Some(&a) && path.last() == Some(&b) && path.len() >= 2);
                assert!(path.windows(2).all(|step| r.contains(step[0], step[1])), "{r:?} {path:?}");
            }
        }
    });
}

#[test]
fn numbers_out_of_range_do_nothing() {
    let mut r: Relation = Relation::empty(100);
    assert_eq!(r.len(), 64);
    r.insert(64, 0);
    r.insert(0, 64);
    r.insert_all(70, Set::first(64));
    assert!(r.is_empty() && !r.contains(99, 99) && !Set::<1>::first(64).contains(64));
    assert!(r.after(99).is_empty() && r.shortest_path(99, 0).is_none() && r.shortest_path(0, 99).is_none());
}
