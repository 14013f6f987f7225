//! Synchronisation of all kinds, inside a model.

mod outcomes;

use outcomes::outcomes;
use seqcst::sync::atomic::{AtomicUsize, Ordering::Relaxed, Ordering::SeqCst};
use seqcst::sync::{Arc, Barrier, Condvar, LazyLock, Mutex, Once, OnceLock, RwLock, Weak, mpsc};
use seqcst::{Builder, Problem, Strategy, thread};
use std::collections::BTreeSet;
use std::sync::Mutex as RealMutex;
use std::time::Duration;

#[test]
fn mutexes_exclude() {
    let seen = outcomes(|| {
        let shared = Arc::new(Mutex::new(Vec::new()));
        let threads: Vec<_> = (0..2)
            .map(|number| {
                let shared = shared.clone();
                thread::spawn(move || shared.lock().unwrap().push(number))
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        shared.lock().unwrap().clone()
    });
    assert_eq!(seen, [vec![0, 1], vec![1, 0]]);
}

#[test]
fn try_lock_finds_it_taken_or_not() {
    let seen = outcomes(|| {
        let shared = Arc::new(Mutex::new(0));
        let other = {
            let shared = shared.clone();
            thread::spawn(move || *shared.lock().unwrap() += 1)
        };
        let got = shared.try_lock().map_or(-1, |value| *value);
        other.join().unwrap();
        got
    });
    assert_eq!(seen, [-1, 0, 1]);
}

#[test]
fn condition_variables_wake() {
    let seen = outcomes(|| {
        let shared = Arc::new((Mutex::new(0), Condvar::new()));
        let threads: Vec<_> = (1..3)
            .map(|number| {
                let shared = shared.clone();
                thread::spawn(move || {
                    let mut value = shared.0.lock().unwrap();
                    value = shared.1.wait_while(value, |value| *value == 0).unwrap();
                    let mine = *value * 10 + number;
                    *value = mine;
                })
            })
            .collect();
        *shared.0.lock().unwrap() = 1;
        shared.1.notify_all();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        *shared.0.lock().unwrap()
    });
    assert_eq!(seen, [112, 121]);
}

#[test]
fn a_lost_signal_is_a_deadlock() {
    let exploration = Builder::default().explore(|| {
        let shared = Arc::new((Mutex::new(()), Condvar::new()));
        let other = shared.clone();
        let waiting = thread::spawn(move || drop(other.1.wait(other.0.lock().unwrap()).unwrap()));
        shared.1.notify_one();
        waiting.join().unwrap();
    });
    assert_eq!(exploration.problem(), Some(&Problem::Deadlock));
}

/// A signal goes to any of those who wait.
#[test]
fn one_signal_wakes_one_of_two() {
    let seen = RealMutex::new(BTreeSet::new());
    let exploration = Builder::default().explore(|| {
        let shared = Arc::new((Mutex::new((0, 0)), Condvar::new()));
        for number in 1..3 {
            let shared = shared.clone();
            thread::spawn(move || {
                let mut value = shared.0.lock().unwrap();
                value.0 += 1;
                value = shared.1.wait_timeout(value, Duration::from_secs(1)).unwrap().0;
                value.1 = number;
            });
        }
        let value = shared.0.lock().unwrap();
        if value.0 == 2 {
            shared.1.notify_one();
        }
        seen.lock().unwrap().insert(value.1);
    });
    println!("{}", exploration.summary());
    assert_eq!(exploration.problem(), None);
    assert_eq!(seen.into_inner().unwrap().into_iter().collect::<Vec<_>>(), [0, 1, 2]);
}

#[test]
fn readers_share_and_writers_don_t() {
    let seen = outcomes(|| {
        let shared = Arc::new((RwLock::new(0), AtomicUsize::new(0)));
        let reader = |shared: Arc<(RwLock<i32>, AtomicUsize)>| {
            let value = shared.0.read().unwrap();
            let others = shared.1.fetch_add(1, SeqCst);
            shared.1.fetch_sub(1, SeqCst);
            (*value, others)
        };
        let (one, two) = (shared.clone(), shared.clone());
        let (one, two) = (thread::spawn(move || reader(one)), thread::spawn(move || reader(two)));
        *shared.0.write().unwrap() = 1;
        let (one, two) = (one.join().unwrap(), two.join().unwrap());
        (one.1 + two.1, one.0, two.0)
    });
    assert!(seen.contains(&(1, 0, 0)) && seen.contains(&(1, 1, 1)), "both at once");
    assert!(seen.contains(&(0, 0, 1)) && !seen.contains(&(1, 0, 1)), "not with the writer in between");
}

#[test]
fn once_is_once() {
    let seen = outcomes(|| {
        let shared = Arc::new((Once::new(), AtomicUsize::new(0), OnceLock::new()));
        let work = |shared: &(Once, AtomicUsize, OnceLock<usize>), number| {
            shared.0.call_once(|| {
                shared.1.fetch_add(1, Relaxed);
            });
            assert_eq!(shared.1.load(Relaxed), 1);
            *shared.2.get_or_init(|| number)
        };
        let other = shared.clone();
        let other = thread::spawn(move || work(&other, 1));
        let mine = work(&shared, 0);
        let theirs = other.join().unwrap();
        assert_eq!(mine, theirs);
        mine
    });
    assert_eq!(seen, [0, 1]);
}

#[test]
fn channels_keep_the_order() {
    let seen = outcomes(|| {
        let (sender, receiver) = mpsc::channel();
        for number in [10, 20] {
            let sender = sender.clone();
            thread::spawn(move || {
                sender.send(number).unwrap();
                sender.send(number + 1).unwrap();
            });
        }
        drop(sender);
        receiver.iter().collect::<Vec<_>>()
    });
    assert_eq!(seen.len(), 6);
    assert!(seen.contains(&vec![10, 20, 11, 21]));
}

#[test]
fn bounded_channels_wait_for_room() {
    for room in 0..2 {
        let seen = outcomes(|| {
            let (sender, receiver) = mpsc::sync_channel(room);
            let sent = Arc::new(AtomicUsize::new(0));
            let count = sent.clone();
            let other = thread::spawn(move || {
                for number in 0..3 {
                    sender.send(number).unwrap();
                    count.fetch_add(1, Relaxed);
                }
            });
            let before = sent.load(Relaxed);
            let got: Vec<_> = receiver.iter().collect();
            other.join().unwrap();
            assert_eq!(got, [0, 1, 2]);
            before
        });
        assert_eq!(seen, (0..=room).collect::<Vec<_>>());
    }
}

#[test]
fn who_sends_to_nobody_hears_of_it() {
    let seen = outcomes(|| {
        let (sender, receiver) = mpsc::channel();
        let other = thread::spawn(move || sender.send(1).is_ok());
        drop(receiver);
        other.join().unwrap()
    });
    assert_eq!(seen, [false, true]);
}

#[test]
fn barriers_have_one_leader() {
    let seen = outcomes(|| {
        let shared = Arc::new((Barrier::new(2), AtomicUsize::new(0)));
        let work = |shared: &(Barrier, AtomicUsize)| {
            shared.1.fetch_add(1, Relaxed);
            let leads = shared.0.wait().is_leader();
            assert_eq!(shared.1.load(Relaxed), 2);
            leads
        };
        let other = shared.clone();
        let other = thread::spawn(move || work(&other));
        let mine = work(&shared);
        assert_ne!(mine, other.join().unwrap());
        mine
    });
    assert_eq!(seen, [false, true]);
}

#[test]
fn scopes_borrow() {
    let seen = outcomes(|| {
        let count = AtomicUsize::new(0);
        let order = thread::scope(|scope| {
            let one = scope.spawn(|| count.fetch_add(1, Relaxed));
            scope.spawn(|| count.fetch_add(1, Relaxed));
            one.join().unwrap()
        });
        assert_eq!(count.into_inner(), 2);
        order
    });
    assert_eq!(seen, [0, 1]);
}

#[test]
fn parked_threads_wait_for_a_token() {
    outcomes(|| {
        let ready = Arc::new(AtomicUsize::new(0));
        let (other, main) = (ready.clone(), thread::current());
        let other = thread::spawn(move || {
            other.store(1, Relaxed);
            main.unpark();
        });
        thread::park();
        assert_eq!(ready.load(Relaxed), 1);
        other.join().unwrap();
    });
}

#[test]
fn threads_have_their_own_values() {
    seqcst::thread_local! {
        static MINE: std::cell::Cell<u32> = std::cell::Cell::new(1);
    }
    outcomes(|| {
        MINE.with(|mine| mine.set(2));
        let other = thread::spawn(|| MINE.with(|mine| mine.get()));
        assert_eq!(other.join().unwrap(), 1);
        assert_eq!(MINE.with(|mine| mine.get()), 2);
    });
    assert_eq!(MINE.with(|mine| mine.get()), 1, "outside");
}

static COUNT: AtomicUsize = AtomicUsize::new(5);
static LAZY: LazyLock<Mutex<u32>> = LazyLock::new(|| Mutex::new(7));

/// Statics begin anew in each execution, and are the same outside.
#[test]
fn statics_begin_anew() {
    COUNT.store(6, Relaxed);
    for _ in 0..2 {
        let seen = outcomes(|| {
            let other = thread::spawn(|| (COUNT.fetch_add(1, Relaxed), *LAZY.lock().unwrap() += 1).0);
            let mine = COUNT.fetch_add(1, Relaxed);
            let theirs = other.join().unwrap();
            assert_eq!(*LAZY.lock().unwrap(), 8);
            (mine, theirs)
        });
        assert_eq!(seen, [(6, 7), (7, 6)]);
        assert_eq!(COUNT.load(Relaxed), 6);
        assert_eq!(*LAZY.lock().unwrap(), 7);
    }
}

/// Two models on two threads that use the same static don't disturb one another.
#[test]
fn models_in_parallel_keep_statics_apart() {
    static SHARED: AtomicUsize = AtomicUsize::new(0);
    let work = || {
        Builder::default().strategy(Strategy::Random).executions(20_000).check(|| {
            let other = thread::spawn(|| SHARED.fetch_add(1, SeqCst));
            SHARED.fetch_add(1, SeqCst);
            other.join().unwrap();
            assert_eq!(SHARED.load(SeqCst), 2);
        });
    };
    std::thread::scope(|scope| (0..2).for_each(|_| drop(scope.spawn(work))));
}

/// Who drops the last reference runs the destructor: that may be any of them.
#[test]
fn destructors_run_in_any_thread() {
    struct Tells(Arc<AtomicUsize>, thread::ThreadId);
    impl Drop for Tells {
        fn drop(&mut self) {
            self.0.store(if thread::current().id() == self.1 { 1 } else { 2 }, Relaxed);
        }
    }
    let seen = outcomes(|| {
        let by = Arc::new(AtomicUsize::new(0));
        let one = Arc::new(Tells(by.clone(), thread::current().id()));
        let two = one.clone();
        let other = thread::spawn(move || drop(two));
        drop(one);
        other.join().unwrap();
        by.load(Relaxed)
    });
    assert_eq!(seen, [1, 2]);
}

#[test]
fn the_only_reference_can_be_had() {
    let seen = outcomes(|| {
        let one = Arc::new(5);
        let (two, weak): (_, Weak<i32>) = (one.clone(), Arc::downgrade(&one));
        let other = thread::spawn(move || drop(two));
        let alone = Arc::try_unwrap(one).is_ok();
        let alive = weak.upgrade().is_some();
        other.join().unwrap();
        (alone, alive)
    });
    assert_eq!(seen, [(false, false), (false, true), (true, false)]);
}

/// As many threads as real programs have.
#[test]
fn many_threads() {
    let exploration = Builder::default().strategy(Strategy::Random).executions(2).explore(|| {
        let count = Arc::new(AtomicUsize::new(0));
        let threads: Vec<_> = (0..1000)
            .map(|_| {
                let count = count.clone();
                thread::spawn(move || count.fetch_add(1, Relaxed))
            })
            .collect();
        threads.into_iter().for_each(|thread| drop(thread.join()));
        assert_eq!(count.load(Relaxed), 1000);
    });
    assert_eq!(exploration.problem(), None);
}

#[test]
fn everything_works_outside() {
    let shared =
        Arc::new((Mutex::new(0), Condvar::new(), RwLock::new(1), Barrier::new(2), AtomicUsize::new(0)));
    let other = shared.clone();
    let (sender, receiver) = mpsc::channel();
    let thread = thread::Builder::new().name("other".into()).spawn(move || {
        *other.0.lock().unwrap() = 1;
        other.1.notify_all();
        *other.2.write().unwrap() += 1;
        other.3.wait();
        other.4.fetch_add(1, SeqCst);
        sender.send(thread::current().name().map(str::to_owned)).unwrap();
    });
    let value = shared.1.wait_while(shared.0.lock().unwrap(), |value| *value == 0).unwrap();
    drop(value);
    shared.3.wait();
    assert_eq!(receiver.recv().unwrap().as_deref(), Some("other"));
    thread.unwrap().join().unwrap();
    assert_eq!((*shared.2.read().unwrap(), shared.4.load(SeqCst)), (2, 1));
    let sum = thread::scope(|scope| {
        let threads = [1, 2].map(|number| scope.spawn(move || number));
        threads.into_iter().map(|thread| thread.join().unwrap()).sum::<i32>()
    });
    assert_eq!(sum, 3);
    assert_eq!(Arc::try_unwrap(shared).map(|shared| shared.4.into_inner()).ok(), Some(1));
}
