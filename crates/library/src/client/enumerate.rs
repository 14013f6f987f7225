//! All small clients that keep the library's contract, smallest first.
//!
//! Threads can be exchanged, so each choice of threads is listed once. What is passed to methods is the matter of `arguments`.

use super::arguments::{self, Parameter};
use super::{Call, Client};
use crate::code::{AccessKind, Expr, Library, LocalId, Role, Statement};
use crate::rho::{accessed, each_statement, locals};
use std::collections::BTreeSet;

/// The methods that a thread calls, by index.
type Calls = Vec<usize>;

/// Clients with two to `threads` threads of one to `calls` calls.
pub fn enumerate(library: &Library, threads: usize, calls: usize) -> Vec<Client> {
    let mut sequences: Vec<Calls> = vec![vec![]];
    let mut last = sequences.clone();
    for _ in 0..calls {
        let longer = last.iter().flat_map(|sequence| {
            (0..library.methods.len())
                .map(move |method| sequence.iter().copied().chain([method]).collect::<Calls>())
        });
        last = longer.filter(|calls| alternates(library, calls) && has_one_part(library, calls)).collect();
        sequences.extend(last.iter().cloned());
    }
    sequences.remove(0);
    let mut choices: Vec<Vec<Calls>> = Vec::new();
    for count in 2..=threads {
        choose(&sequences, count, &mut vec![], &mut choices);
    }
    choices.retain(|threads| {
        let all: Vec<usize> = threads.iter().flat_map(|calls| groups(library, calls)).collect();
        all.iter().collect::<BTreeSet<_>>().len() == all.len()
    });
    choices.sort_by_key(|threads| (threads.iter().map(Vec::len).sum::<usize>(), threads.len()));
    let constants = compares_arguments(library).then(|| arguments::constants(library));
    choices.iter().flat_map(|threads| with_arguments(library, threads, constants.as_deref())).collect()
}

/// Does the client keep the library's contract?
pub fn respects(library: &Library, client: &Client) -> bool {
    let index = |call: &Call| library.methods.iter().position(|method| method.name == call.method);
    let threads: Option<Vec<Calls>> =
        client.threads.iter().map(|calls| calls.iter().map(index).collect()).collect();
    threads.is_some_and(|threads| {
        let all: Vec<usize> = threads.iter().flat_map(|calls| groups(library, calls)).collect();
        threads.iter().all(|calls| alternates(library, calls) && has_one_part(library, calls))
            && all.iter().collect::<BTreeSet<_>>().len() == all.len()
    })
}

fn choose(sequences: &[Calls], count: usize, chosen: &mut Vec<Calls>, found: &mut Vec<Vec<Calls>>) {
    if count == 0 {
        found.push(chosen.clone());
        return;
    }
    for (index, sequence) in sequences.iter().enumerate() {
        chosen.push(sequence.clone());
        choose(&sequences[index..], count - 1, chosen, found);
        chosen.pop();
    }
}

/// The object of a method of [`two`](super::objects::two) objects, else nothing.
pub fn object_of(method: &str) -> &str {
    method.split_once('@').map_or("", |(_, object)| object)
}

/// Does a thread play one part only, for each object: producer or consumer?
fn has_one_part(library: &Library, calls: &[usize]) -> bool {
    let of = |group: &usize| library.contract.one_thread[*group].first().map_or("", |name| object_of(name));
    let groups = groups(library, calls);
    groups.iter().map(of).collect::<BTreeSet<_>>().len() == groups.len()
}

/// The groups of methods that belong to one thread each, among these calls.
fn groups(library: &Library, calls: &[usize]) -> BTreeSet<usize> {
    let groups = library.contract.one_thread.iter().enumerate();
    let called = |group: &[String]| calls.iter().any(|call| group.contains(&library.methods[*call].name));
    groups.filter(|(_, group)| called(group)).map(|(index, _)| index).collect()
}

/// A thread unlocks what it has locked, and locks it again only after that.
fn alternates(library: &Library, calls: &[usize]) -> bool {
    let plays = |role, call: usize| {
        library.contract.roles.iter().any(|(r, name)| *r == role && *name == library.methods[call].name)
    };
    let mut held = BTreeSet::new();
    calls.iter().all(|call| {
        let object = object_of(&library.methods[*call].name);
        if plays(Role::Lock, *call) {
            held.insert(object)
        } else if plays(Role::Unlock, *call) {
            held.remove(object)
        } else {
            true
        }
    })
}

fn with_arguments(library: &Library, threads: &[Calls], constants: Option<&[i64]>) -> Vec<Client> {
    let parameters: Vec<Parameter> = threads
        .iter()
        .enumerate()
        .flat_map(|(thread, calls)| calls.iter().map(move |call| (thread, *call)))
        .flat_map(|(thread, call)| arguments::parameters(&library.methods[call], thread))
        .collect();
    let client = |arguments: Vec<i64>| {
        let mut next = arguments.into_iter();
        let mut call = |call: &usize| {
            let method = &library.methods[*call];
            let arguments = next.by_ref().take(method.parameters.len()).collect();
            Call { method: method.name.clone(), arguments }
        };
        Client { threads: threads.iter().map(|calls| calls.iter().map(&mut call).collect()).collect() }
    };
    let are_records_all = library.classes.iter().all(|class| class.record.is_some());
    arguments::choices(&parameters, constants, are_records_all).into_iter().map(client).collect()
}

/// Does anything but the values themselves depend on arguments?
fn compares_arguments(library: &Library) -> bool {
    let mut variables: Vec<BTreeSet<LocalId>> =
        library.methods.iter().map(|method| method.parameters.iter().copied().collect()).collect();
    let mut classes = BTreeSet::new();
    let mut compares = false;
    loop {
        let before = (variables.clone(), classes.clone());
        for (method, variables) in library.methods.iter().zip(&mut variables) {
            each_statement(&method.body, &mut |statement| {
                let depends = |expr: &Expr, variables: &BTreeSet<LocalId>| {
                    let mut found = false;
                    locals(expr, &mut |local| found |= variables.contains(&local));
                    found
                };
                match statement {
                    Statement::Assign { to, value } if depends(value, variables) => variables.extend([*to]),
                    Statement::If { condition, .. } | Statement::Assume(condition) => {
                        compares |= depends(condition, variables);
                    }
                    Statement::Access(access) => {
                        if let Some(place) = accessed(access) {
                            let mut parts = place.base.iter().chain(&place.index);
                            compares |= parts.any(|part| depends(part, variables));
                        }
                        match &access.kind {
                            AccessKind::Load { to, place, .. } if classes.contains(&place.class) => {
                                variables.insert(*to);
                            }
                            AccessKind::Wait { to, place, until, .. } => {
                                if classes.contains(&place.class) {
                                    variables.insert(*to);
                                }
                                compares |= depends(until, variables);
                            }
                            AccessKind::Store { place, value, .. } if depends(value, variables) => {
                                classes.insert(place.class);
                            }
                            AccessKind::Rmw { to, place, operand, .. } => {
                                if depends(operand, variables) {
                                    classes.insert(place.class);
                                }
                                if classes.contains(&place.class) {
                                    variables.extend(to);
                                }
                            }
                            AccessKind::Cas { found, place, expected, desired, .. } => {
                                if depends(desired, variables) {
                                    classes.insert(place.class);
                                }
                                if classes.contains(&place.class) {
                                    variables.extend(found);
                                    compares = true;
                                }
                                compares |= depends(expected, variables);
                            }
                            _ => {}
                        }
                    }
                    _ => {}
                }
            });
        }
        if compares || (variables.clone(), classes.clone()) == before {
            return compares;
        }
    }
}
