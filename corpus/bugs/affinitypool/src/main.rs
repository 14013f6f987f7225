//! affinitypool 0.4.0: a worker registers as parked and then looks whether there is work or the pool shuts down; who gives it work or shuts the pool
//! down says so and then looks for parked workers. That is store buffering, without a fence: both may miss the other, and the worker sleeps for
//! ever. (Fixed in 0.5.0 by an SC fence behind `parked_threads.push`, and others. Of the two sides it is the one of the shutdown that can
//! be seen: the queues of crossbeam that hold the work have SC accesses of their own.)
//@ crate: affinitypool 0.4.0 fixed 0.5.0
//@ expect: src/lib.rs:313  `parked_threads.pop()` in `drop` misses `parked_threads.push()` of a worker
//@ expect: src/lib.rs:280  `shutdown.load(Acquire)` of a worker misses `shutdown.store()` in `drop`
//@ expect: src/lib.rs:131  `parked_threads.pop()` in `spawn`
//@ expect: src/lib.rs:272  `injector.is_empty()` in the loop of a worker

use affinitypool::Threadpool;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{Thread, current, park_timeout, scope};
use std::time::{Duration, Instant};

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Waits for a future, but not for ever: a lost wakeup is what this is about.
fn wait<T>(future: impl Future<Output = T>) -> Option<T> {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Unpark(current())));
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(5) {
        if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return Some(value);
        }
        park_timeout(Duration::from_millis(100));
    }
    None
}

fn main() {
    for _ in 0..20 {
        let pool = Threadpool::new(3);
        scope(|s| {
            for _ in 0..2 {
                s.spawn(|| {
                    for i in 0..5 {
                        assert_eq!(wait(pool.spawn(move || i + 1)), Some(i + 1));
                    }
                });
            }
        });
    }
}
