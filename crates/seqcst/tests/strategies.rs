//! Random programs of all kinds of synchronisation: partial-order reduction shows all that all schedules do.

use seqcst::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use seqcst::sync::{Arc, Condvar, Mutex, Once, OnceLock, RwLock, Weak, mpsc};
use seqcst::{Builder, Model, Strategy, thread};
use seqcst_model::sample::Random;
use seqcst_testing::drawn;
use std::collections::BTreeSet;
use std::sync::Mutex as RealMutex;
use std::time::Duration;

/// Programs.
const CASES: u64 = 150;

/// What threads share.
struct Shared {
    number: AtomicUsize,
    mutex: Mutex<usize>,
    condvar: Condvar,
    lock: RwLock<usize>,
    once: Once,
    cell: OnceLock<usize>,
    senders: Vec<Sender>,
    receivers: Vec<Mutex<mpsc::Receiver<usize>>>,
    threads: Mutex<Vec<thread::Thread>>,
}

enum Sender {
    Any(mpsc::Sender<usize>),
    Some(mpsc::SyncSender<usize>),
}

/// What a thread has for itself.
struct Own {
    strong: Option<Arc<usize>>,
    weak: Option<Weak<usize>>,
}

/// Operations that have to do with one another.
const GROUPS: [&[usize]; 7] =
    [&[2, 3, 4, 5, 6], &[7, 8, 9, 10], &[11, 12, 13, 14], &[15, 17], &[16, 18], &[0, 19, 20], &[21, 22, 23]];

/// Does something, and tells what came of it. Nothing blocks for ever.
fn operate(shared: &Shared, own: &mut Own, operation: usize) -> usize {
    let soon = Duration::from_millis(1);
    match operation {
        0 => shared.number.fetch_add(1, SeqCst),
        1 => shared.number.load(SeqCst),
        2 => {
            let mut value = shared.mutex.lock().unwrap();
            *value += 1;
            *value
        }
        3 => shared.mutex.try_lock().map_or(99, |value| *value),
        4 => {
            let (value, late) = shared.condvar.wait_timeout(shared.mutex.lock().unwrap(), soon).unwrap();
            *value * 2 + usize::from(late.timed_out())
        }
        5 => {
            let mut value = shared.mutex.lock().unwrap();
            *value += 10;
            shared.condvar.notify_one();
            *value
        }
        6 => {
            shared.condvar.notify_all();
            0
        }
        7 => *shared.lock.read().unwrap(),
        8 => {
            let mut value = shared.lock.write().unwrap();
            *value += 1;
            *value
        }
        9 => shared.lock.try_read().map_or(99, |value| *value),
        10 => shared.lock.try_write().map_or(99, |mut value| {
            *value += 1;
            *value
        }),
        11 => {
            let mut mine = 0;
            shared.once.call_once(|| mine = 1);
            mine
        }
        12 => usize::from(shared.once.is_completed()),
        13 => shared.cell.set(7).map_or(0, |()| 1),
        14 => shared.cell.get().copied().unwrap_or(99),
        15 | 16 => match &shared.senders[operation - 15] {
            Sender::Any(sender) => usize::from(sender.send(1).is_ok()),
            Sender::Some(sender) => usize::from(sender.try_send(1).is_ok()),
        },
        17 => shared.receivers[0].lock().unwrap().try_recv().unwrap_or(99),
        18 => shared.receivers[1].lock().unwrap().recv_timeout(soon).unwrap_or(99),
        19 => {
            thread::park_timeout(soon);
            shared.number.load(SeqCst)
        }
        20 => {
            shared.threads.lock().unwrap().iter().for_each(thread::Thread::unpark);
            0
        }
        21 => {
            let strong = own.weak.as_ref().and_then(Weak::upgrade);
            usize::from(strong.is_some())
        }
        22 => {
            drop(own.strong.take());
            0
        }
        _ => own.strong.as_mut().map_or(99, |strong| {
            let alone = usize::from(Arc::get_mut(strong).is_some());
            own.weak = None;
            alone
        }),
    }
}

/// What can come of a program; None if not all schedules were tried.
fn outcomes(strategy: Strategy, program: &[Vec<usize>]) -> Option<BTreeSet<Vec<Vec<usize>>>> {
    let seen = RealMutex::new(BTreeSet::new());
    let builder = Builder::default().memory_model(Model::Sc).strategy(strategy).executions(5_000);
    let exploration = builder.explore(|| {
        let (one, two) = (mpsc::channel(), mpsc::sync_channel(1));
        let shared = Arc::new(Shared {
            number: AtomicUsize::new(0),
            mutex: Mutex::new(0),
            condvar: Condvar::new(),
            lock: RwLock::new(0),
            once: Once::new(),
            cell: OnceLock::new(),
            senders: vec![Sender::Any(one.0), Sender::Some(two.0)],
            receivers: vec![Mutex::new(one.1), Mutex::new(two.1)],
            threads: Mutex::new(vec![thread::current()]),
        });
        let counted = Arc::new(5);
        let run = |number: usize| {
            let (shared, mut own) =
                (shared.clone(), Own { strong: Some(counted.clone()), weak: Some(Arc::downgrade(&counted)) });
            let operations = program[number].clone();
            move || operations.iter().map(|&which| operate(&shared, &mut own, which)).collect::<Vec<_>>()
        };
        let (first, others) = (run(0), (1..program.len()).map(run).collect::<Vec<_>>());
        drop(counted);
        let others: Vec<_> = others.into_iter().map(thread::spawn).collect();
        let mut logs = vec![{ first }()];
        logs.extend(others.into_iter().map(|other| other.join().unwrap()));
        seen.lock().unwrap().insert(logs);
    });
    assert_eq!(exploration.problem(), None, "{program:?}\n{}", exploration.report().unwrap_or_default());
    exploration.is_exhaustive().then(|| seen.into_inner().unwrap())
}

#[test]
fn dpor_shows_what_all_schedules_do() {
    let (mut compared, mut several) = (0, 0);
    for seed in drawn::seeds(drawn::cases(CASES)) {
        let mut random = Random::new(seed);
        let threads = 2 + usize::from(random.one_in(4));
        let length = if threads == 2 { 2 } else { 1 };
        let groups = [random.below(GROUPS.len()), random.below(GROUPS.len())];
        let mut operation = || {
            let group = GROUPS[groups[usize::from(random.one_in(4))]];
            group[random.below(group.len())]
        };
        let program: Vec<Vec<usize>> =
            (0..threads).map(|_| (0..length).map(|_| operation()).collect()).collect();
        let Some(all) = outcomes(Strategy::Bounded(None), &program) else { continue };
        let Some(reduced) = outcomes(Strategy::Dpor, &program) else { continue };
        let missing: Vec<_> = all.difference(&reduced).collect();
        assert!(all == reduced, "seed {seed}: {program:?}: dpor misses {missing:?}");
        (compared, several) = (compared + 1, several + usize::from(all.len() > 1));
    }
    println!("{compared} compared, {several} with several outcomes");
    assert!(compared > 0 && several > 0);
}
