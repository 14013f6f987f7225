//! What a program can come to, over all of its executions.

use seqcst::Builder;
use std::collections::BTreeSet;
use std::sync::Mutex;

/// All that `f` returns in some execution, which must all be fine.
#[track_caller]
pub fn outcomes<T: Ord>(f: impl Fn() -> T) -> Vec<T> {
    let seen = Mutex::new(BTreeSet::new());
    let exploration = Builder::default().explore(|| {
        seen.lock().unwrap().insert(f());
    });
    println!("{}\n{}", exploration.summary(), exploration.report().unwrap_or_default());
    assert_eq!(exploration.problem(), None);
    assert!(exploration.is_exhaustive());
    seen.into_inner().unwrap().into_iter().collect()
}
