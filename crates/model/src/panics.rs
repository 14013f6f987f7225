//! Panics that are caught on purpose, told apart from bugs.
//!
//! The hook of the command line ends the process at a panic: a thread that is gone must not leave others waiting. It runs
//! before any `catch_unwind` does, so it has to be told which panics are not the end.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    static CAUGHT: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work`; nothing if it panics. What it has changed by then must not be used.
pub fn catch<T>(work: impl FnOnce() -> T) -> Option<T> {
    let outer = CAUGHT.replace(true);
    let result = catch_unwind(AssertUnwindSafe(work));
    CAUGHT.set(outer);
    result.ok()
}

/// Whether a panic of this thread would be caught by [`catch`]. For panic hooks.
pub fn is_caught() -> bool {
    CAUGHT.get()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn caught_until_the_outermost_ends() {
        assert!(!is_caught());
        assert_eq!(catch(|| (catch(|| panic!("inside")).is_none(), is_caught())), Some((true, true)));
        assert!(catch(|| panic!("outside")).is_none() && !is_caught());
        assert!(
            catch(|| std::thread::spawn(is_caught).join()).is_some_and(|other| matches!(other, Ok(false)))
        );
    }
}
