//! A cheapest choice that meets all demands, by integer linear programming.
//!
//! A variable per change, 0 or 1; per demand, the sum of what meets it is at least 1; two changes that only help together
//! have a variable of their own that is at most either.

use super::demand::Demands;
use crate::change::Change;
use good_lp::solvers::{SolutionStatus, WithTimeLimit};
use good_lp::{
    Expression, ProblemVariables, Solution, SolverModel, Variable, constraint, default_solver, variable,
};
use seqcst_model::panics;
use std::collections::BTreeMap;
use std::time::Duration;

/// The solver gets this part of the time that is left: without an answer there must be time for a greedy choice.
const SHARE: u32 = 4;

/// Beyond this many variables the solver may take too long.
const MOST_VARIABLES: usize = 4_000;

/// A cheapest choice; none if the problem is too large, or the solver has no answer in time.
pub fn choose(demands: &Demands<'_>, budget: Duration) -> Option<Vec<Change>> {
    let worthwhile = demands.worthwhile();
    let twos: usize = demands.all.iter().map(|demand| demand.two.len()).sum();
    if worthwhile.len() + twos > MOST_VARIABLES {
        return None;
    }
    let mut problem = ProblemVariables::new();
    let mut cost = Expression::default();
    let mut variables: BTreeMap<usize, Variable> = BTreeMap::new();
    for &number in &worthwhile {
        let chosen = problem.add(variable().binary());
        cost += f64::from(demands.costs[number]) * chosen;
        variables.insert(number, chosen);
    }
    let mut constraints = Vec::new();
    for demand in &demands.all {
        let alone = demand.one.iter().filter_map(|number| variables.get(number).copied());
        let mut sum: Expression = alone.sum();
        for (a, b) in &demand.two {
            let (Some(&a), Some(&b)) = (variables.get(a), variables.get(b)) else { continue };
            let both = problem.add(variable().binary());
            constraints.push(constraint!(both <= a));
            constraints.push(constraint!(both <= b));
            sum += both;
        }
        constraints.push(constraint!(sum >= 1));
    }
    let mut model = problem.minimise(cost).using(default_solver);
    for constraint in constraints {
        model.add_constraint(constraint);
    }
    let left = demands.question.deadline.left().map_or(budget, |left| budget.min(left / SHARE));
    let model = model.with_time_limit(left.as_secs_f64());
    // A solver that fails must not take the program with it: there is the greedy way.
    let solution = panics::catch(|| {
        assert!(!panics_on_purpose(), "the solver was told to panic");
        model.solve()
    });
    let solution = solution?.ok()?;
    if !matches!(solution.status(), SolutionStatus::Optimal) {
        return None;
    }
    let chosen = variables.iter().filter(|(_, variable)| solution.value(**variable) > 0.5);
    Some(chosen.map(|(&number, _)| demands.changes[number]).collect())
}

/// For tests of the command line, which have no program that the solver fails on.
fn panics_on_purpose() -> bool {
    cfg!(debug_assertions) && std::env::var_os("SEQCST_TEST_SOLVER_PANICS").is_some()
}
