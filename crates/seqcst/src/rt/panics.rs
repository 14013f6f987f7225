//! Panics inside: kept for the report instead of printed, and the way to end a thread that will never be its turn again.

use super::note::Dead;
use std::any::Any;
use std::cell::RefCell;
use std::panic;
use std::sync::Once;

/// Unwinds a thread whose execution was given up.
struct GivenUp;

thread_local! {
    static LAST: RefCell<Option<Dead>> = const { RefCell::new(None) };
}

/// From now on, panics inside are not printed.
pub fn keep_quiet() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !super::inside() {
                return before(info);
            }
            let place = info.location().map(ToString::to_string).unwrap_or_default();
            let dead = Dead { message: text(info.payload()), place };
            LAST.with(|last| *last.borrow_mut() = Some(dead));
        }));
    });
}

/// What a panic says.
fn text(payload: &dyn Any) -> String {
    let text = payload.downcast_ref::<&str>().map(ToString::to_string);
    text.or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without words".into())
}

/// Ends the running thread.
pub fn unwind() -> ! {
    panic::resume_unwind(Box::new(GivenUp))
}

/// How a thread died that panicked by itself; None if it was ended by [`unwind`].
pub fn autopsy(payload: &(dyn Any + Send)) -> Option<Dead> {
    if payload.is::<GivenUp>() {
        return None;
    }
    let message = text(payload);
    // The last panic may be another one, if this one was carried on.
    let last = LAST.with(|last| last.borrow_mut().take()).filter(|last| last.message == message);
    Some(last.unwrap_or_else(|| Dead { message, place: String::new() }))
}
