//! Rust's std under heavy contention: its slow paths aren't instrumented, and still nothing is reported. Exit code 0.
//!
//! What is protected is plain data behind `UnsafeCell`, so that an edge which the runtime misses shows as a race.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Condvar, LazyLock, Mutex, Once, OnceLock, RwLock, mpsc};
use std::thread;
use std::time::Duration;

/// Plain data that others protect.
#[derive(Default)]
struct Plain(UnsafeCell<usize>);

// SAFETY: that is what is being tested.
unsafe impl Sync for Plain {}
unsafe impl Send for Plain {}

impl Plain {
    #[inline(never)]
    fn get(&self) -> usize {
        unsafe { *self.0.get() }
    }
    #[inline(never)]
    fn set(&self, value: usize) {
        unsafe { *self.0.get() = value }
    }
    fn add(&self) {
        self.set(self.get() + 1);
    }
}

const THREADS: usize = 4;
const ROUNDS: usize = 1000;

fn mutexes() {
    let (mutex, plain) = (Mutex::new(0), Plain::default());
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                for i in 0..ROUNDS {
                    if i % 10 == 0 {
                        if let Ok(mut guard) = mutex.try_lock() {
                            *guard += 0;
                            plain.set(plain.get());
                        }
                    }
                    let mut guard = mutex.lock().unwrap();
                    *guard += 1;
                    plain.add();
                    if i % 64 == 0 {
                        thread::yield_now(); // others queue up
                    }
                }
            });
        }
    });
    assert_eq!((mutex.into_inner().unwrap(), plain.get()), (THREADS * ROUNDS, THREADS * ROUNDS));
}

fn rwlocks() {
    let (lock, plain) = (RwLock::new(0), Plain::default());
    thread::scope(|scope| {
        for me in 0..THREADS {
            let (lock, plain) = (&lock, &plain);
            scope.spawn(move || {
                for i in 0..ROUNDS {
                    if (i + me) % 4 == 0 {
                        let mut guard = lock.write().unwrap();
                        *guard += 1;
                        plain.add();
                        if i % 32 == 0 {
                            thread::yield_now();
                        }
                    } else {
                        let guard = lock.read().unwrap();
                        assert_eq!(*guard, plain.get());
                        if i % 32 == 0 {
                            thread::yield_now();
                        }
                    }
                }
            });
        }
    });
    assert_eq!(plain.get(), THREADS * ROUNDS / 4);
}

fn condvars() {
    let (state, condvar, plain) = (Mutex::new(0), Condvar::new(), Plain::default());
    thread::scope(|scope| {
        for me in 0..THREADS {
            let (state, condvar, plain) = (&state, &condvar, &plain);
            scope.spawn(move || {
                for i in 0..ROUNDS / 4 {
                    let mut turn = state.lock().unwrap();
                    while *turn % THREADS != me {
                        turn = if i % 2 == 0 {
                            condvar.wait(turn).unwrap()
                        } else {
                            condvar.wait_timeout(turn, Duration::from_millis(100)).unwrap().0
                        };
                    }
                    plain.add();
                    *turn += 1;
                    condvar.notify_all();
                }
            });
        }
    });
    assert_eq!(plain.get(), THREADS * (ROUNDS / 4));
}

fn onces() {
    static LAZY: LazyLock<Vec<String>> = LazyLock::new(|| (0..100).map(|i| format!("lazy {i}")).collect());
    for _ in 0..50 {
        let (once, cell, plain, ready) = (Once::new(), OnceLock::new(), Plain::default(), AtomicUsize::new(0));
        thread::scope(|scope| {
            for me in 0..THREADS {
                let (once, cell, plain, ready) = (&once, &cell, &plain, &ready);
                scope.spawn(move || {
                    ready.fetch_add(1, Ordering::Relaxed);
                    if me == 3 {
                        once.wait();
                        assert_eq!(plain.get(), 5);
                        assert_eq!(cell.wait(), "made by one");
                        return;
                    }
                    once.call_once(|| {
                        thread::yield_now();
                        plain.set(5);
                    });
                    assert_eq!(plain.get(), 5);
                    let text: &String = cell.get_or_init(|| {
                        thread::yield_now();
                        "made by one".to_owned()
                    });
                    assert_eq!(text, "made by one");
                    assert_eq!(LAZY[7], "lazy 7");
                });
            }
        });
    }
    // An initialiser that panics poisons; the next one that tries knows what it did.
    std::panic::set_hook(Box::new(|_| {}));
    for _ in 0..50 {
        let (once, plain) = (Once::new(), Plain::default());
        thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    let attempt = || {
                        once.call_once_force(|_| {
                            plain.add();
                            thread::yield_now();
                            assert!(plain.get() > 2, "as planned");
                        });
                    };
                    while std::panic::catch_unwind(std::panic::AssertUnwindSafe(attempt)).is_err() {}
                    assert_eq!(plain.get(), 3);
                });
            }
        });
    }
    drop(std::panic::take_hook());
}

fn barriers() {
    let (barrier, slots) = (Barrier::new(THREADS), [const { Plain(UnsafeCell::new(0)) }; THREADS]);
    let leaders = AtomicUsize::new(0);
    thread::scope(|scope| {
        for me in 0..THREADS {
            let (barrier, slots, leaders) = (&barrier, &slots, &leaders);
            scope.spawn(move || {
                for i in 0..ROUNDS / 10 {
                    slots[me].set(i);
                    if barrier.wait().is_leader() {
                        leaders.fetch_add(1, Ordering::Relaxed);
                    }
                    assert!(slots.iter().all(|slot| slot.get() == i));
                    barrier.wait();
                }
            });
        }
    });
    assert_eq!(leaders.into_inner(), ROUNDS / 10);
}

fn parks() {
    let plain = Arc::new(Plain::default());
    let (flag, other) = (Arc::new(AtomicBool::new(false)), plain.clone());
    // The flag is relaxed: the token alone orders.
    let theirs = flag.clone();
    let thread = thread::spawn(move || {
        for i in 0..ROUNDS {
            while !theirs.swap(false, Ordering::Relaxed) {
                if i % 2 == 0 {
                    thread::park();
                } else {
                    thread::park_timeout(Duration::from_secs(10));
                }
            }
            let _ = i;
        }
        other.add();
    });
    for _ in 0..ROUNDS {
        flag.store(true, Ordering::Relaxed);
        thread.thread().unpark();
        while flag.load(Ordering::Relaxed) {
            thread::yield_now();
        }
    }
    thread.join().unwrap();
    assert_eq!(plain.get(), 1);
    // Data handed over by the token alone; a new thread has none left from before.
    for i in 0..200 {
        let (plain, theirs) = (Arc::new(Plain::default()), AtomicUsize::new(0));
        let other = plain.clone();
        let thread = thread::spawn(move || {
            if i % 2 == 0 { thread::park() } else { thread::park_timeout(Duration::from_secs(20)) }
            assert_eq!(other.get(), i + 1);
            theirs.fetch_add(1, Ordering::Relaxed);
        });
        if i % 3 == 0 {
            thread::yield_now(); // sometimes it sleeps already
        }
        plain.set(i + 1);
        thread.thread().unpark();
        thread.join().unwrap();
    }
}

fn channels() {
    let (sender, receiver) = mpsc::channel::<Box<[usize; 4]>>();
    let senders: Vec<_> = (0..THREADS)
        .map(|me| {
            let sender = sender.clone();
            thread::spawn(move || (0..ROUNDS).for_each(|i| sender.send(Box::new([me, i, me + i, 7])).unwrap()))
        })
        .collect();
    drop(sender);
    let mut count = 0;
    for message in receiver {
        assert_eq!(message[0] + message[1], message[2]);
        count += 1;
    }
    senders.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(count, THREADS * ROUNDS);
    for bound in [0, 1, 16] {
        let (sender, receiver) = mpsc::sync_channel::<Vec<usize>>(bound);
        let receiver = Arc::new(Mutex::new(receiver));
        let total = Arc::new(AtomicUsize::new(0));
        let receivers: Vec<_> = (0..2)
            .map(|_| {
                let (receiver, total) = (receiver.clone(), total.clone());
                thread::spawn(move || {
                    loop {
                        let message = receiver.lock().unwrap().recv_timeout(Duration::from_secs(20));
                        let Ok(message) = message else { break };
                        assert_eq!(message.len(), 3);
                        total.fetch_add(message[1], Ordering::Relaxed);
                    }
                })
            })
            .collect();
        (0..ROUNDS).for_each(|i| sender.send(vec![i, 1, i]).unwrap());
        drop(sender);
        receivers.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(total.load(Ordering::Relaxed), ROUNDS);
    }
}

fn ownership() {
    for _ in 0..200 {
        let plain = Arc::new(Plain::default());
        let weak = Arc::downgrade(&plain);
        let threads: Vec<_> = (0..3)
            .map(|_| {
                let plain = plain.clone();
                thread::spawn(move || plain.get())
            })
            .collect();
        drop(plain);
        let left = weak.upgrade().map_or(0, |plain| plain.get());
        assert_eq!(left + threads.into_iter().map(|thread| thread.join().unwrap()).sum::<usize>(), 0);
    }
    // Dropped by whoever is last.
    for i in 0..500 {
        let text = Arc::new(format!("shared by two {i}"));
        let other = text.clone();
        let thread = thread::spawn(move || other.len());
        drop(text);
        assert!(thread.join().unwrap() > 10);
    }
}

fn scopes() {
    let plain = Plain::default();
    for i in 0..300 {
        let slots = [const { Plain(UnsafeCell::new(0)) }; 3];
        thread::scope(|scope| {
            for slot in &slots {
                scope.spawn(move || slot.set(i)); // not joined: the scope waits
            }
        });
        assert!(slots.iter().all(|slot| slot.get() == i));
        plain.add();
    }
    assert_eq!(plain.get(), 300);
}

fn output() {
    // std's own buffers change hands inside of std.
    let threads: Vec<_> = (0..THREADS)
        .map(|me| {
            thread::Builder::new()
                .name(format!("printer {me}"))
                .spawn(move || (0..50).for_each(|i| println!("{} says {i}", thread::current().name().unwrap_or("?"))))
                .unwrap()
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

fn main() {
    let all: [(&str, fn()); 11] = [
        ("mutexes", mutexes),
        ("rwlocks", rwlocks),
        ("condvars", condvars),
        ("onces", onces),
        ("barriers", barriers),
        ("parks", parks),
        ("channels", channels),
        ("ownership", ownership),
        ("scopes", scopes),
        ("output", output),
        ("nothing", || {}),
    ];
    let chosen = std::env::args().nth(1);
    for (name, run) in all {
        if chosen.as_deref().is_none_or(|chosen| chosen == name) {
            run();
            eprintln!("{name}: ok");
        }
    }
}
