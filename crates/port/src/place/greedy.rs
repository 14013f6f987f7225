//! A choice that meets all demands, made one change at a time.

use super::demand::{Demand, Demands};
use crate::change::Change;
use crate::limit::OutOfTime;

/// Takes the change that meets the most open demands for its cost, until none is open; then takes back what turned out
/// not to be needed.
pub fn choose(demands: &Demands<'_>) -> Result<Vec<Change>, OutOfTime> {
    let mut chosen: Vec<usize> = Vec::new();
    let doing = "choosing changes";
    for open in &demands.all {
        demands.question.deadline.check(doing)?;
        if is_met(open, &chosen) {
            continue;
        }
        let value = |number: usize| {
            let meets = |demand: &&Demand| demand.one.contains(&number) && !is_met(demand, &chosen);
            let met = demands.all.iter().filter(meets).count() as u64;
            met * 1_000_000 / u64::from(demands.costs[number].max(1))
        };
        let best = open.one.iter().copied().max_by_key(|&number| value(number));
        match (best, open.two.first()) {
            (Some(number), _) => chosen.push(number),
            (None, Some(&(a, b))) => chosen.extend([a, b]),
            (None, None) => {}
        }
    }
    let mut order = chosen.clone();
    order.sort_by_key(|&number| std::cmp::Reverse(demands.costs[number]));
    for number in order {
        demands.question.deadline.check(doing)?;
        let without: Vec<usize> = chosen.iter().copied().filter(|&other| other != number).collect();
        if demands.all.iter().all(|demand| is_met(demand, &without) || !is_met(demand, &chosen)) {
            chosen = without;
        }
    }
    Ok(chosen.into_iter().map(|number| demands.changes[number]).collect())
}

fn is_met(demand: &Demand, chosen: &[usize]) -> bool {
    demand.one.iter().any(|number| chosen.contains(number))
        || demand.two.iter().any(|(a, b)| chosen.contains(a) && chosen.contains(b))
}
