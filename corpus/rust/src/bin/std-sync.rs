//! What std has for threads to wait for one another, under contention: all of it is robust and races nowhere.
//@ run: robust

use corpus::{Plain, must};
use std::collections::VecDeque;
use std::sync::{Arc, Barrier, Condvar, LazyLock, Mutex, Once, OnceLock, RwLock, mpsc};
use std::thread::{park, scope, spawn};

const THREADS: usize = 4;
const TIMES: usize = 50;

fn mutex() {
    let (lock, sum) = (Mutex::new(()), Plain::new(0));
    scope(|s| {
        for _ in 0..THREADS {
            s.spawn(|| {
                for _ in 0..TIMES {
                    let _inside = lock.lock();
                    sum.set(sum.get() + 1);
                }
            });
        }
    });
    must(sum.get() == THREADS * TIMES);
}

fn rwlock() {
    let (lock, both) = (RwLock::new(()), [Plain::new(0), Plain::new(0)]);
    scope(|s| {
        for thread in 0..THREADS {
            let (lock, both) = (&lock, &both);
            s.spawn(move || {
                for i in 0..TIMES {
                    if (thread + i) % 4 == 0 {
                        let _inside = lock.write();
                        both.iter().for_each(|it| it.set(it.get() + 1));
                    } else {
                        let _inside = lock.read();
                        must(both[0].get() == both[1].get());
                    }
                }
            });
        }
    });
}

fn condvar() {
    let (queue, filled) = (Mutex::new(VecDeque::new()), Condvar::new());
    scope(|s| {
        for _ in 0..2 {
            s.spawn(|| {
                for i in 0..TIMES {
                    queue.lock().unwrap().push_back(Box::new(i));
                    filled.notify_one();
                }
            });
            s.spawn(|| {
                for _ in 0..TIMES {
                    let mut queue =
                        filled.wait_while(queue.lock().unwrap(), |queue| queue.is_empty()).unwrap();
                    must(*queue.pop_front().unwrap() < TIMES);
                }
            });
        }
    });
}

fn once() {
    for _ in 0..TIMES / 5 {
        let (once, made, cell) = (Once::new(), Plain::new(0), OnceLock::new());
        let lazy = LazyLock::new(|| Box::new(7));
        scope(|s| {
            for _ in 0..THREADS {
                s.spawn(|| {
                    once.call_once(|| made.set(1));
                    must(made.get() == 1);
                    must(**cell.get_or_init(|| Box::new(2)) == 2);
                    must(**lazy == 7);
                });
            }
        });
    }
}

fn barrier() {
    let (barrier, written) = (Barrier::new(THREADS), [const { Plain::new(0) }; THREADS]);
    scope(|s| {
        for me in 0..THREADS {
            let (barrier, written) = (&barrier, &written);
            s.spawn(move || {
                for i in 0..TIMES {
                    written[me].set(i);
                    barrier.wait();
                    must(written[(me + 1) % THREADS].get() == i);
                    barrier.wait();
                }
            });
        }
    });
}

fn parking() {
    let letter = Arc::new(Plain::new(0));
    let reader = {
        let letter = letter.clone();
        spawn(move || {
            park();
            must(letter.get() == 1);
        })
    };
    letter.set(1);
    reader.thread().unpark();
    must(reader.join().is_ok());
}

fn channels() {
    let (send, receive) = mpsc::channel();
    let (send_few, receive_few) = mpsc::sync_channel(2);
    scope(|s| {
        for i in 0..THREADS {
            let (send, send_few) = (send.clone(), send_few.clone());
            s.spawn(move || {
                for _ in 0..TIMES {
                    send.send(Box::new(i)).unwrap();
                    send_few.send(Box::new(i)).unwrap();
                }
            });
        }
        drop((send, send_few));
        s.spawn(move || must(receive.iter().map(|it| *it).sum::<usize>() == TIMES * 6));
        s.spawn(move || must(receive_few.iter().map(|it| *it).sum::<usize>() == TIMES * 6));
    });
}

fn main() {
    mutex();
    rwlock();
    condvar();
    once();
    barrier();
    for _ in 0..TIMES / 5 {
        parking();
    }
    channels();
}
