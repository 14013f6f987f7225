//! `dpor` against all schedules, on random scripts.

mod common;

use common::{Do, Script, all, draw, seeds};
use seqcst_explore::Strategy;
use seqcst_explore::strategies::{Bounded, Dpor};
use std::collections::BTreeSet;

/// Schedules of one script.
const MOST: u64 = 4_000;

fn compare(script: &Script) -> Result<Option<[u64; 4]>, String> {
    let Some(every) = all(script, &mut Bounded::new(None), MOST) else { return Ok(None) };
    let Some(dpor) = all(script, &mut Dpor::new(), 2 * MOST) else {
        return Err("dpor takes longer".to_owned());
    };
    let tapes = every.tapes.len() as u64;
    if tapes != every.summary.executions {
        return Err(format!("{tapes} schedules in {} executions", every.summary.executions));
    }
    let keys = |seen: &common::Seen| seen.traces.keys().copied().collect::<BTreeSet<_>>();
    let (wanted, got) = (keys(&every), keys(&dpor));
    if wanted != got {
        let (missing, odd) = (wanted.difference(&got).count(), got.difference(&wanted).count());
        return Err(format!("of {} traces {missing} are missing, {odd} are odd", wanted.len()));
    }
    if !dpor.summary.progress.exhausted || !every.summary.progress.exhausted {
        return Err("not exhausted".to_owned());
    }
    let summary = &dpor.summary;
    Ok(Some([every.summary.executions, got.len() as u64, summary.executions, summary.redundant]))
}

fn smaller(script: &Script) -> Vec<Script> {
    let mut found = Vec::new();
    for thread in 0..script.0.len() {
        for at in 0..script.0[thread].len() {
            let mut less = script.clone();
            less.0[thread].remove(at);
            found.extend(Some(less).filter(is_sound));
        }
    }
    found
}

/// Whoever gives something back has taken it, and after trying comes what is skipped if it fails.
fn is_sound(script: &Script) -> bool {
    script.0.iter().all(|body| {
        let (mut held, mut read) = ([0; 4], [0; 4]);
        body.iter().enumerate().all(|(at, what)| {
            match *what {
                Do::Lock(m) => held[m as usize] += 1,
                Do::TryLock(m) => {
                    held[m as usize] += 1;
                    return body.get(at + 2) == Some(&Do::Unlock(m));
                }
                Do::Unlock(m) => held[m as usize] -= 1,
                Do::ReadLock(m) => read[m as usize] += 1,
                Do::ReadUnlock(m) => read[m as usize] -= 1,
                Do::Wait(_) | Do::TimedWait(_) => return held[0] == 1,
                _ => {}
            }
            held.iter().chain(&read).all(|&many| many == 0 || many == 1)
        })
    })
}

#[test]
fn all_traces_of_random_scripts() {
    let mut sums = [0; 4];
    let mut too_big = 0;
    for seed in seeds(400) {
        let mut script = draw::script(seed);
        let mut result = compare(&script);
        if result.is_err() {
            while let Some((less, error)) =
                smaller(&script).into_iter().find_map(|s| Some((s.clone(), compare(&s).err()?)))
            {
                (script, result) = (less, Err(error));
            }
        }
        match result {
            Ok(Some(counts)) => sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count),
            Ok(None) => too_big += 1,
            Err(error) => panic!("{error}\n{script:?}\nto reproduce: SEQCST_SEED={seed} SEQCST_CASES=1"),
        }
    }
    let [schedules, traces, executions, redundant] = sums;
    println!(
        "{schedules} schedules, {traces} traces, {executions} executions, {redundant} redundant; {too_big} too big"
    );
    assert!(traces + redundant <= executions && executions < schedules / 2);
}

/// With a bound: the traces that have a schedule with so few preemptions.
#[test]
fn all_traces_with_few_preemptions() {
    let mut sums = [0; 2];
    for seed in seeds(200) {
        let script = draw::script(seed);
        for bound in 0..3 {
            let Some(every) = all(&script, &mut Bounded::new(Some(bound)), MOST) else { continue };
            let dpor = all(&script, &mut Dpor::bounded(bound), 2 * MOST).expect("no more than all");
            let keys = |seen: &common::Seen| seen.traces.keys().copied().collect::<BTreeSet<_>>();
            // While others are asleep, who offers its turn may have to go on: that is more than asked for.
            let yields = script.0.iter().flatten().any(|what| matches!(what, Do::Yield | Do::TimedWait(_)));
            let enough =
                if yields { keys(&dpor).is_superset(&keys(&every)) } else { keys(&dpor) == keys(&every) };
            assert!(enough, "bound {bound}, SEQCST_SEED={seed}: {script:?}");
            assert!(every.most_preemptions <= bound && (yields || dpor.most_preemptions <= bound));
            sums[0] += every.summary.executions;
            sums[1] += dpor.summary.executions;
        }
    }
    println!("{} schedules, {} with dpor", sums[0], sums[1]);
}

fn traces(script: &Script, strategy: &mut dyn Strategy) -> BTreeSet<u64> {
    all(script, strategy, MOST).expect("it is small").traces.keys().copied().collect()
}

fn counts(script: &[&[Do]]) -> (usize, u64, u64) {
    let script = Script(script.iter().map(|thread| thread.to_vec()).collect());
    let seen = all(&script, &mut Dpor::new(), 1_000_000).expect("it is small");
    (seen.traces.len(), seen.summary.executions, seen.summary.redundant)
}

#[test]
fn one_execution_for_every_trace() {
    use Do::*;
    // Store buffering: four ways to order two pairs, of which one is a cycle.
    assert_eq!(counts(&[&[Store(0), Load(1)], &[Store(1), Load(0)]]), (3, 3, 0));
    // Independent threads: one trace.
    assert_eq!(counts(&[&[Store(0), Store(0)], &[Store(1), Store(1)], &[Load(2)]]), (1, 1, 0));
    // Critical sections: as many as orders of them.
    let section = [Lock(0), Rmw(0), Unlock(0)];
    assert_eq!(counts(&[&section, &section, &section]).0, 6);
    // Two threads that each wait for the other's lock: two orders and a deadlock.
    let (one, other) = ([Lock(0), Lock(1), Unlock(1), Unlock(0)], [Lock(1), Lock(0), Unlock(0), Unlock(1)]);
    assert_eq!(counts(&[&one, &other]).0, 3);
    // One writer, n readers of one location: 2^n.
    assert_eq!(counts(&[&[Store(0)], &[Load(0)], &[Load(0)], &[Load(0)], &[Load(0)]]), (16, 16, 0));
}

/// Room for one: who sends second waits for the receiver, and could have been first.
#[test]
fn senders_that_wait_for_room() {
    use Do::*;
    assert_eq!(counts(&[&[Send(0)], &[Send(0)], &[Take(0), Take(0)]]).0, 2);
    assert_eq!(counts(&[&[Send(0)], &[Load(0), Send(0)], &[Take(0), Store(0), Take(0)]]).0, 3);
}

/// The thread that waits for ever for a lock never makes its step, and must go first nevertheless.
#[test]
fn a_deadlock_hides_what_comes_first() {
    use Do::*;
    // The first one takes the lock and waits for the second, which needs the lock.
    let script = Script(vec![vec![Lock(0), Spin(0), Unlock(0)], vec![Lock(0), Store(0), Unlock(0)]]);
    let seen = all(&script, &mut Dpor::new(), 1000).expect("it is small");
    let ends: BTreeSet<String> = seen.traces.values().map(|(_, end, _)| format!("{end:?}")).collect();
    assert_eq!(ends, BTreeSet::from(["Done".to_owned(), "Livelock".to_owned()]));
}

/// While the first thread has the lock, the second waits for it and can be left at no cost: not so after the unlock, though
/// the signal and the unlock are independent.
#[test]
fn a_step_that_lets_others_go_on_makes_it_more_expensive_to_leave_them() {
    use Do::*;
    let script =
        Script(vec![vec![Broadcast(0), Lock(0)], vec![Lock(0), TimedWait(0), Unlock(0), Signal(0), Lock(0)]]);
    assert!(traces(&script, &mut Dpor::bounded(2)).is_superset(&traces(&script, &mut Bounded::new(Some(2)))));
}
