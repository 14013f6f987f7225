//! Logical time: it goes on by a little whenever somebody looks, and by as much as it takes when a time-out or a sleep
//! is over.
//!
//! It is one for all clocks, all threads and all executions, and begins at the same moment each time, so that what a
//! program makes of it is the same each time too. It is logical from the beginning of the process on, before `main`.

use crate::options;
use core::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use libc::{clockid_t, timespec};

/// Nanoseconds since the beginning.
static NOW: AtomicU64 = AtomicU64::new(0);

/// What a look at the clock takes.
const LOOK: u64 = 1_000;
const SECOND: u64 = 1_000_000_000;
/// Clocks that say what time it is begin with the year 2026.
const DATE: u64 = 1_767_225_600 * SECOND;
/// Clocks that say how long the machine has been running begin here.
const UPTIME: u64 = 10_000 * SECOND;

/// Do clocks show logical time?
pub fn is_logical() -> bool {
    static KNOWN: AtomicU8 = AtomicU8::new(UNKNOWN);
    const UNKNOWN: u8 = 0;
    const NO: u8 = 1;
    const YES: u8 = 2;
    if KNOWN.load(Ordering::Relaxed) == UNKNOWN {
        let explored = options::variable(seqcst_explore::wire::VARIABLE).is_some();
        KNOWN.store(if explored { YES } else { NO }, Ordering::Relaxed);
    }
    KNOWN.load(Ordering::Relaxed) == YES
}

/// A moment, in nanoseconds since the beginning. Beyond the end of time is the end of time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Moment(u64);

/// What a clock shows at the beginning. The time that a thread or a process has used is all the time there is.
fn beginning(clock: clockid_t) -> u64 {
    match clock {
        libc::CLOCK_REALTIME | libc::CLOCK_REALTIME_COARSE | libc::CLOCK_REALTIME_ALARM | libc::CLOCK_TAI => {
            DATE
        }
        libc::CLOCK_PROCESS_CPUTIME_ID | libc::CLOCK_THREAD_CPUTIME_ID => 0,
        _ => UPTIME,
    }
}

/// Looks at a clock.
pub fn look(clock: clockid_t) -> timespec {
    as_timespec(beginning(clock) + NOW.fetch_add(LOOK, Ordering::Relaxed) + LOOK)
}

/// A duration from now.
pub fn after(duration: &timespec) -> Moment {
    Moment(NOW.load(Ordering::Relaxed).saturating_add(nanoseconds(duration)))
}

/// The moment at which a clock shows this.
pub fn moment(clock: clockid_t, shows: &timespec) -> Moment {
    Moment(nanoseconds(shows).saturating_sub(beginning(clock)))
}

/// It is at least that late.
pub fn reach(moment: Moment) {
    NOW.fetch_max(moment.0.min(u64::MAX / 4), Ordering::Relaxed);
}

/// Negative durations are none.
fn nanoseconds(time: &timespec) -> u64 {
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    seconds.saturating_mul(SECOND).saturating_add(u64::try_from(time.tv_nsec).unwrap_or(0))
}

fn as_timespec(nanoseconds: u64) -> timespec {
    timespec { tv_sec: (nanoseconds / SECOND) as i64, tv_nsec: (nanoseconds % SECOND) as i64 }
}

/// Does libc accept it as a duration?
pub fn is_valid(time: &timespec) -> bool {
    (0..SECOND as i64).contains(&time.tv_nsec)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One test, because there is one time.
    #[test]
    fn time_goes_on() {
        let time = |clock| nanoseconds(&look(clock));
        let first = time(libc::CLOCK_MONOTONIC);
        assert_eq!(time(libc::CLOCK_MONOTONIC), first + LOOK);
        assert_eq!(time(libc::CLOCK_BOOTTIME), first + 2 * LOOK);
        let date = look(libc::CLOCK_REALTIME);
        assert!(date.tv_sec >= 1_767_225_600 && is_valid(&date));

        // A deadline by the date is the same moment as one by a duration.
        let in_a_minute = timespec { tv_sec: date.tv_sec + 60, ..date };
        let minute = timespec { tv_sec: 60, tv_nsec: 0 };
        assert_eq!(moment(libc::CLOCK_REALTIME, &in_a_minute), after(&minute));
        reach(moment(libc::CLOCK_REALTIME, &in_a_minute));
        assert_eq!(look(libc::CLOCK_REALTIME).tv_sec, in_a_minute.tv_sec);
        reach(moment(libc::CLOCK_REALTIME, &date)); // long ago
        assert_eq!(look(libc::CLOCK_REALTIME).tv_sec, in_a_minute.tv_sec);

        // Odd ones.
        let never = timespec { tv_sec: i64::MAX, tv_nsec: 999_999_999 };
        assert!(after(&never) > after(&minute));
        let negative = timespec { tv_sec: -5, tv_nsec: -5 };
        assert!(!is_valid(&negative));
        let now = after(&timespec { tv_sec: 0, tv_nsec: 0 });
        assert_eq!(after(&negative), now);
        reach(after(&never));
        assert!(look(libc::CLOCK_REALTIME).tv_sec > in_a_minute.tv_sec);
    }
}
