//! Rust's std: what threads wait for one another with, one by one.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Condvar, LazyLock, Mutex, Once, OnceLock, RwLock, mpsc};
use std::thread;
use std::time::{Duration, Instant};

/// Two threads at once.
fn run(work: impl Fn(usize) + Sync) {
    thread::scope(|scope| {
        let work = &work;
        let other = scope.spawn(move || work(1));
        work(0);
        other.join().unwrap();
    });
}

struct Counts<'a>(&'a AtomicUsize);

impl Drop for Counts<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

static ENDED: AtomicUsize = AtomicUsize::new(0);
thread_local!(static LOCAL: RefCell<Option<Counts<'static>>> = const { RefCell::new(None) });

fn main() {
    let kind = std::env::args().nth(1).unwrap_or_default();
    let counter = AtomicUsize::new(0);
    let second = Duration::from_secs(1);
    match &*kind {
        "mutex" => {
            let mutex = Mutex::new(0);
            run(|_| *mutex.lock().unwrap() += 1);
            assert_eq!(*mutex.lock().unwrap(), 2);
        }
        "try" => {
            let mutex = Mutex::new(0);
            run(|_| {
                while mutex.try_lock().map(|mut it| *it += 1).is_err() {
                    thread::yield_now();
                }
            });
            assert_eq!(*mutex.lock().unwrap(), 2);
        }
        "poisoned" => {
            std::panic::set_hook(Box::new(|_| {}));
            let mutex = Mutex::new(0);
            let _ = thread::scope(|scope| {
                let (it, other) = (&mutex, &mutex);
                let one = scope.spawn(move || {
                    let _held = it.lock();
                    panic!("on purpose");
                });
                scope.spawn(move || drop(other.lock()));
                one.join()
            });
            assert!(mutex.is_poisoned());
        }
        "rwlock" => {
            let lock = RwLock::new(0);
            run(|me| if me == 0 { *lock.write().unwrap() += 1 } else { assert!(*lock.read().unwrap() <= 1) });
        }
        "condvar" => {
            let (lock, changed) = (Mutex::new(false), Condvar::new());
            run(|me| {
                let mut ready = lock.lock().unwrap();
                if me == 0 {
                    *ready = true;
                    changed.notify_one();
                } else {
                    drop(changed.wait_while(ready, |ready| !*ready));
                }
            });
        }
        "condvar-timed" => {
            let (lock, changed) = (Mutex::new(()), Condvar::new());
            run(|me| {
                let guard = lock.lock().unwrap();
                let start = Instant::now();
                if me == 0 {
                    changed.notify_one();
                } else if changed.wait_timeout(guard, second).unwrap().1.timed_out() {
                    assert!(start.elapsed() >= second);
                }
            });
        }
        "barrier" => {
            let barrier = Barrier::new(2);
            run(|_| {
                counter.fetch_add(1, Ordering::SeqCst);
                barrier.wait();
                assert_eq!(counter.load(Ordering::SeqCst), 2);
            });
        }
        "once" => {
            let once = Once::new();
            run(|_| {
                once.call_once(|| {
                    counter.fetch_add(1, Ordering::SeqCst);
                });
                assert_eq!(counter.load(Ordering::SeqCst), 1);
            });
        }
        "lazy" => {
            static LAZY: LazyLock<String> = LazyLock::new(|| "made".to_owned());
            let lock = OnceLock::new();
            run(|me| {
                assert_eq!(*LAZY, "made");
                assert!(*lock.get_or_init(|| me) < 2);
            });
        }
        "channel" => {
            let (sender, receiver) = mpsc::sync_channel(1);
            let receiver = Mutex::new(receiver);
            run(|me| {
                if me == 0 {
                    (0..2).for_each(|number| sender.send(number).unwrap());
                } else {
                    assert_eq!(receiver.lock().unwrap().iter().take(2).collect::<Vec<_>>(), [0, 1]);
                }
            });
        }
        "channel-timed" => {
            let (sender, receiver) = mpsc::channel();
            let receiver = Mutex::new(receiver);
            run(|me| {
                if me == 0 {
                    sender.send(7).unwrap();
                } else {
                    assert!(receiver.lock().unwrap().recv_timeout(second).is_ok_and(|it| it == 7) || me == 1);
                }
            });
        }
        "park" => {
            let waiter = thread::current();
            run(|me| {
                if me == 0 {
                    while counter.load(Ordering::Acquire) == 0 {
                        thread::park();
                    }
                } else {
                    counter.store(1, Ordering::Release);
                    waiter.unpark();
                }
            });
        }
        "park-timed" => {
            let waiter = thread::current();
            run(|me| if me == 0 { thread::park_timeout(second) } else { waiter.unpark() });
        }
        "sleep" => {
            run(|_| {
                let start = Instant::now();
                thread::sleep(second);
                assert!(start.elapsed() >= second);
            });
        }
        "local" => {
            let handle = thread::spawn(|| LOCAL.set(Some(Counts(&ENDED))));
            handle.join().unwrap();
            assert_eq!(ENDED.load(Ordering::SeqCst), 1);
        }
        "hash" => {
            // Its order depends on random keys.
            let map: HashMap<u32, u32> = (0..8).map(|number| (number, number)).collect();
            let first = *map.keys().next().unwrap() as usize;
            run(|_| {
                for _ in 0..=first {
                    counter.fetch_add(1, Ordering::SeqCst);
                }
            });
            assert_eq!(counter.load(Ordering::SeqCst), 2 * (first + 1));
        }
        "panics" => {
            let shared = Arc::new(AtomicUsize::new(0));
            let other = shared.clone();
            let one = thread::spawn(move || other.store(1, Ordering::SeqCst));
            assert_eq!(shared.load(Ordering::SeqCst), 0, "it was too fast");
            one.join().unwrap();
        }
        "deadlock" => {
            let (a, b) = (Mutex::new(Cell::new(0)), Mutex::new(Cell::new(0)));
            run(|me| {
                let (first, then) = if me == 0 { (&a, &b) } else { (&b, &a) };
                let held = first.lock().unwrap();
                then.lock().unwrap().set(held.get());
            });
        }
        other => panic!("no such kind: {other}"),
    }
}
