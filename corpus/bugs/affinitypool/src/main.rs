//! affinitypool 0.4.0: a producer pushes a task and then looks for parked workers, a worker registers as parked and then looks for tasks, which
//! is store buffering without fences: both may miss the other, and the task waits for ever (fixed in 0.5.0, which put SC fences in between).
//@ crate: affinitypool 0.4.0 fixed 0.5.0
//@ expect: src/lib.rs:131  `parked_threads.pop()` in `spawn`
//@ expect: src/lib.rs:200  `injector.is_empty()` in `find_task`
//@ expect: src/lib.rs:201  `parked_threads.pop()` in `find_task`
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
    let pool = Threadpool::new(2);
    scope(|s| {
        for _ in 0..2 {
            s.spawn(|| {
                for i in 0..100 {
                    assert_eq!(wait(pool.spawn(move || i + 1)), Some(i + 1));
                }
            });
        }
    });
}
