//! The player, turn by turn; and the engine's eye on programs that aren't deterministic.

mod common;

use common::{Do, Machine, Script};
use seqcst_explore::strategies::{Bounded, Dpor, Pct, RandomWalk, Replay};
use seqcst_explore::{
    AccessType, CHOICE, Choice, End, Fallback, Kind, Limits, Op, Outcome, Plan, Player, Source, State,
    Strategy, Trace, explore,
};
use std::convert::Infallible;

const LOAD: Op = Op::new(Kind::Load, AccessType::Read, 16);
const STORE: Op = Op::new(Kind::Store, AccessType::Write, 16);

fn started(plan: &Plan, threads: u32, trace: &mut Trace) -> Player {
    let mut player = Player::default();
    player.start(plan);
    (0..threads).for_each(|thread| player.set(thread, State::Ready, trace));
    player
}

#[test]
fn steadily_from_thread_to_thread() {
    let mut trace = Trace::default();
    let mut player = started(&Plan::default(), 3, &mut trace);
    let mut go = |player: &mut Player, expected: u32| {
        assert_eq!(player.turn(), Choice::Go(expected));
        assert_eq!(player.turn(), Choice::Go(expected), "the same answer");
        player.did(expected, LOAD, 0, None, &mut trace);
    };
    go(&mut player, 0);
    go(&mut player, 0);
    let mut other = Trace::default();
    player.set(0, State::Blocked, &mut other);
    go(&mut player, 1);
    player.set(1, State::Willing, &mut other);
    go(&mut player, 2);
    player.set(2, State::Blocked, &mut other);
    go(&mut player, 1);
    player.set(1, State::Blocked, &mut other);
    assert_eq!(player.turn(), Choice::Stuck);
}

#[test]
fn tapes_are_orders_or_suggestions() {
    let plan = Plan { tape: vec![1, 2, 0], ..Plan::default() };
    let mut trace = Trace::default();
    let mut player = started(&plan, 2, &mut trace);
    player.did(1, LOAD, 0, None, &mut trace);
    assert_eq!(player.turn(), Choice::Diverged, "there is no thread 2");
    let mut player = started(&Plan { lenient: true, ..plan }, 2, &mut trace);
    player.did(1, LOAD, 0, None, &mut trace);
    assert_eq!(player.turn(), Choice::Go(0));
    player.did(0, LOAD, 0, None, &mut trace);
    assert!(player.is_past_tape());
}

#[test]
fn choices_are_on_the_tape() {
    let mut trace = Trace::default();
    let plan = Plan { tape: vec![0, CHOICE | 2, 1, 0], ..Plan::default() };
    let mut player = started(&plan, 2, &mut trace);
    assert_eq!((player.turn(), player.choose(3), player.choose(3)), (Choice::Go(0), 2, 2));
    player.did(0, LOAD, 0, None, &mut trace);
    assert_eq!(player.turn(), Choice::Go(1));
    player.did(1, LOAD, 0, None, &mut trace);
    assert_eq!(player.turn(), Choice::Go(0));
    player.did(0, LOAD, 0, None, &mut trace);
    assert_eq!((player.turn(), player.choose(3)), (Choice::Go(0), 0), "the first way, after the tape");
    player.did(0, LOAD, 0, None, &mut trace);
    assert_eq!(trace.tape().collect::<Vec<_>>(), [0, CHOICE | 2, 1, 0, 0, CHOICE]);
    // A choice that isn't there, one that isn't asked for, one that is asked for where there is none.
    for (tape, many) in [(vec![0, CHOICE | 3], 3), (vec![0, 1], 2), (vec![0, CHOICE | 1], 0)] {
        let mut player = started(&Plan { tape, ..Plan::default() }, 2, &mut trace);
        assert_eq!(player.turn(), Choice::Go(0));
        if many > 0 {
            player.choose(many);
        }
        player.did(0, LOAD, 0, None, &mut trace);
        assert_eq!(player.turn(), Choice::Diverged);
    }
}

#[test]
fn who_is_asleep_is_woken_by_a_conflict() {
    let plan = Plan { tape: vec![1], asleep: vec![(0, LOAD), (2, LOAD)], ..Plan::default() };
    let mut trace = Trace::default();
    // Nothing that conflicts: both stay asleep.
    let mut player = started(&plan, 3, &mut trace);
    player.did(1, LOAD, 0, None, &mut trace);
    assert_eq!(player.turn(), Choice::Go(1));
    player.set(1, State::Blocked, &mut trace);
    assert_eq!(player.turn(), Choice::Redundant);
    // A conflict at the tape's last step.
    let mut player = started(&plan, 3, &mut trace);
    player.did(1, STORE, 0, None, &mut trace);
    player.set(1, State::Blocked, &mut trace);
    assert_eq!(player.turn(), Choice::Go(2));
    // What came before the tape's last step doesn't count.
    let plan = Plan { tape: vec![1, 1], ..plan };
    let mut player = started(&plan, 3, &mut trace);
    player.did(1, STORE, 0, None, &mut trace);
    player.did(1, LOAD, 0, None, &mut trace);
    player.set(1, State::Blocked, &mut trace);
    assert_eq!(player.turn(), Choice::Redundant);
}

#[test]
fn lots_are_drawn_evenly() {
    let mut counts = [0; 3];
    for seed in 0..3000 {
        let mut trace = Trace::default();
        let mut player = started(&Plan { then: Fallback::Random { seed }, ..Plan::default() }, 3, &mut trace);
        player.did(1, LOAD, 0, None, &mut trace);
        let Choice::Go(thread) = player.turn() else { panic!("somebody can go") };
        assert_eq!(player.turn(), Choice::Go(thread));
        counts[thread as usize] += 1;
    }
    assert!(counts.iter().all(|count| (900..1100).contains(count)), "{counts:?}");
}

/// A program that looks at something else than the schedule: one execution does something else.
struct Moody(Machine, u32);

impl Source for Moody {
    type Error = Infallible;

    fn run(&mut self, plan: &Plan, trace: &mut Trace) -> Result<Outcome, Infallible> {
        let outcome = self.0.run(plan, trace)?;
        self.1 += 1;
        if self.1 == 3
            && let Some(step) = trace.steps.get_mut(1)
        {
            step.site = 99;
        }
        Ok(outcome)
    }
}

#[test]
fn a_program_that_is_not_deterministic_is_noticed() {
    let script = Script(vec![vec![Do::Store(0); 3]; 2]);
    let strategies: [Box<dyn Strategy>; 4] = [
        Box::new(Dpor::new()),
        Box::new(Bounded::new(None)),
        Box::new(RandomWalk::new(1, 100)),
        Box::new(Pct::new(2, 1, 100)),
    ];
    for mut strategy in strategies {
        let mut source = Moody(Machine::new(&script), 0);
        let Ok(summary) = explore(&mut source, strategy.as_mut(), &Limits::default(), |_, _| ());
        // A random strategy seldom sees the same twice, but what was drawn is executed again now and then.
        let odd = summary.diverged.expect("the third execution is not what it should be");
        let sites = [odd.expected, odd.came].map(|step| step.map(|step| step.site));
        assert!(odd.step == 1 && sites.contains(&Some(99)), "{odd:?}");
    }
}

#[test]
fn a_tape_of_another_program_is_noticed() {
    let script = Script(vec![vec![Do::Store(0)], vec![Do::Store(1)]]);
    let tape = vec![0, 1, 1, 1, 0];
    let mut source = Machine::new(&script);
    let Ok(summary) = explore(&mut source, &mut Replay::new(tape), &Limits::default(), |_, _| ());
    let odd = summary.diverged.expect("thread 1 has two steps");
    assert_eq!((odd.step, odd.thread, odd.came), (3, 1, None));
}

#[test]
fn the_first_of_each_kind_of_failure_is_kept() {
    use Do::*;
    let script = Script(vec![vec![Lock(0), Lock(1), Check(0)], vec![Lock(1), Lock(0), Store(0)]]);
    let limits = Limits { keep_going: true, ..Limits::default() };
    let Ok(summary) = explore(&mut Machine::new(&script), &mut Dpor::new(), &limits, |_, _| ());
    let kinds: Vec<(End, bool)> =
        summary.failing.iter().map(|failing| (failing.end, failing.outcome.failure.is_some())).collect();
    assert!(kinds.contains(&(End::Deadlock, false)), "{kinds:?}");
    let limits = Limits::default();
    let Ok(summary) = explore(&mut Machine::new(&script), &mut Dpor::new(), &limits, |_, _| ());
    assert_eq!(summary.failing.len(), 1);
}
