//! A fence in every thread (`membarrier`), as the runtime tells it to the monitors, against fences and synchronisation spelled
//! out, at every access of random SC runs.
//!
//! Spelled out, who calls makes an SC fence and releases an object; every other thread acquires that, makes an SC fence and
//! releases an object of its own; who called acquires all of these and makes an SC fence. The runtime can't act for other
//! threads, so it leaves word for them, and the caller learns of their events by their times alone.

use seqcst_model::sample::Random;
use seqcst_model::{Mode, Model};
use seqcst_monitor::clocks::run::{Attempt, Location, Message, Thread};
use seqcst_monitor::clocks::{Hidden, Look, Slot, Stale};
use seqcst_testing::drawn;

const MODES: [Mode; 5] = [Mode::Relaxed, Mode::Acquire, Mode::Release, Mode::AcqRel, Mode::SeqCst];
const LOCATIONS: u32 = 3;

#[derive(Clone, Copy, Debug)]
enum What {
    Load(usize, Mode),
    Store(usize, Mode),
    Rmw(usize, Mode),
    Fence(Mode),
    Everywhere,
}

/// Threads that are watched, and how a fence in all of them is told.
struct Watched {
    threads: Vec<Thread>,
    places: Vec<Location>,
    hidden: Hidden,
    /// What threads haven't heard yet.
    words: Vec<Vec<Message>>,
    spelled_out: bool,
}

impl Watched {
    fn new(threads: u32, model: Model, spelled_out: bool) -> Watched {
        Watched {
            threads: (0..threads).map(|slot| Thread::first(slot as Slot, model)).collect(),
            places: (0..LOCATIONS).map(|number| Location::exact(0, number)).collect(),
            hidden: Hidden::new(),
            words: (0..threads).map(|_| Vec::new()).collect(),
            spelled_out,
        }
    }

    /// A thread's next event: could it have been stale?
    fn happens(&mut self, me: usize, what: What, value: u64) -> Option<Stale> {
        for word in self.words[me].drain(..) {
            self.threads[me].fenced_by(&word);
        }
        let thread = &mut self.threads[me];
        let asked = |x: usize, look, mode, rmw| {
            let attempt = Attempt { look, mode, failure: mode, rmw };
            thread.check(&self.places[x], attempt, |_| 0)
        };
        match what {
            What::Load(x, mode) => {
                let found = asked(x, Look::Load, mode, false);
                thread.load(&mut self.places[x], mode, 0);
                found
            }
            What::Store(x, mode) => {
                let found = asked(x, Look::Store, mode, false);
                thread.store(&mut self.places[x], mode, value, 0);
                found
            }
            What::Rmw(x, mode) => {
                let found = asked(x, Look::Store, mode, true);
                thread.rmw(&mut self.places[x], mode, value, 0);
                found
            }
            What::Fence(mode) => {
                thread.fence(mode, &mut self.hidden);
                None
            }
            What::Everywhere => {
                self.everywhere(me);
                None
            }
        }
    }

    fn everywhere(&mut self, me: usize) {
        let Watched { threads, hidden, words, .. } = self;
        threads[me].fence(Mode::SeqCst, hidden);
        let mut message = Message::default();
        threads[me].release(&mut message);
        for other in (0..threads.len()).filter(|&other| other != me) {
            if self.spelled_out {
                let mut answer = Message::default();
                threads[other].acquire(&message);
                threads[other].fence(Mode::SeqCst, hidden);
                threads[other].release(&mut answer);
                threads[me].acquire(&answer);
            } else {
                let (slot, time) = (threads[other].slot(), threads[other].time());
                words[other].push(message.clone());
                threads[me].hear_of(slot, time);
            }
            threads[me].fence(Mode::SeqCst, hidden);
        }
    }
}

fn draw(random: &mut Random) -> What {
    let x = random.pick(LOCATIONS) as usize;
    let mode = MODES[random.pick(5) as usize];
    match random.pick(13) {
        0..5 => What::Load(x, [Mode::Relaxed, Mode::Acquire, Mode::SeqCst][random.pick(3) as usize]),
        5..9 => What::Store(x, [Mode::Relaxed, Mode::Release, Mode::SeqCst][random.pick(3) as usize]),
        9..11 => What::Rmw(x, mode),
        11 => What::Fence(mode),
        _ => What::Everywhere,
    }
}

#[test]
fn as_if_spelled_out() {
    let (mut stale, mut questions) = (0, 0);
    for seed in drawn::seeds(drawn::cases(3000)) {
        for model in [Model::Rc11, Model::Tso] {
            let mut random = Random::new(seed);
            let threads = 2 + random.pick(3);
            let [mut plain, mut told] = [true, false].map(|way| Watched::new(threads, model, way));
            let mut run = Vec::new();
            for value in 1..60 {
                let (me, what) = (random.pick(threads) as usize, draw(&mut random));
                run.push((me, what));
                let answers = [plain.happens(me, what, value), told.happens(me, what, value)];
                assert_eq!(answers[0], answers[1], "{model:?}, seed {seed}: {run:?}");
                questions += 1;
                stale += usize::from(answers[0].is_some());
            }
        }
    }
    assert!(stale > questions / 50, "{stale} of {questions}");
}
