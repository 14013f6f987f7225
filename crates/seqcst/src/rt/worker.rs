//! Coroutines: one per thread of the program, kept for all executions of an exploration.

use super::world::{World, names};
use super::{here, panics, step, wait::Wait};
use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, Yielder};
use seqcst_explore::{AccessType, Failure, Kind, Op, State, ThreadId};
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;

/// A coroutine that does one job after the other, those of the thread with its number.
pub struct Worker(Coroutine<(), (), ()>);

/// How a coroutine gives the OS thread back.
pub type Exit = NonNull<Yielder<(), ()>>;

impl Worker {
    /// A worker with a stack of this size.
    pub fn new(number: ThreadId, stack: usize) -> std::io::Result<Worker> {
        let stack = DefaultStack::new(stack)?;
        Ok(Worker(Coroutine::with_stack(stack, move |yielder, ()| {
            here().tasks[number as usize].exit = Some(NonNull::from(yielder));
            while let Some(job) = here().tasks[number as usize].job.take() {
                work(number, job);
                switch();
            }
        })))
    }

    /// Runs until the worker's thread has to wait for its turn, or has ended.
    #[inline]
    pub fn run(&mut self, world: *mut World) {
        super::CURRENT.set(world);
        self.0.resume(());
        super::CURRENT.set(std::ptr::null_mut());
    }
}

/// The workers of an exploration, by the threads that they run.
#[derive(Default)]
pub struct Workers {
    list: Vec<Worker>,
    /// The size of their stacks.
    stack: usize,
}

impl Workers {
    /// The worker for a thread.
    #[inline]
    pub fn get(&mut self, thread: ThreadId) -> &mut Worker {
        while self.list.len() <= thread as usize {
            let number = self.list.len() as u32;
            match Worker::new(number, self.stack) {
                Ok(worker) => self.list.push(worker),
                Err(error) => panic!("seqcst: no stack for thread {number}: {error}"),
            }
        }
        &mut self.list[thread as usize]
    }
}

thread_local! {
    /// What the last exploration on this OS thread has left: stacks and tables are dear.
    static SPARE: RefCell<Option<Spare>> = const { RefCell::new(None) };
}

struct Spare(Box<World>, Workers);

impl Drop for Spare {
    fn drop(&mut self) {
        // Workers without a job come to their ends.
        for (number, worker) in (0..).zip(&mut self.1.list) {
            self.0.current = number;
            worker.run(&mut *self.0);
        }
    }
}

/// What an exploration needs, from an earlier one if possible.
pub fn borrow(stack: usize) -> (Box<World>, Workers) {
    let spare = SPARE.with(|spare| spare.borrow_mut().take());
    match spare.filter(|spare| spare.1.stack == stack) {
        Some(mut spare) => (std::mem::take(&mut spare.0), std::mem::take(&mut spare.1)),
        None => (Box::default(), Workers { list: Vec::new(), stack }),
    }
}

/// Keeps it for the next one.
pub fn give_back(mut world: Box<World>, workers: Workers) {
    world.forget();
    let spare = Spare(world, workers);
    // At the end of the OS thread there is nowhere to keep it.
    let _ = SPARE.try_with(|place| place.borrow_mut().replace(spare));
}

/// Gives the OS thread back, until it is this thread's turn.
#[inline]
pub fn switch() {
    let world = here();
    let exit = world.me().exit.expect("a running coroutine");
    // SAFETY: the coroutine runs, so it has not returned, and what it was given at its start is still there.
    unsafe { exit.as_ref() }.suspend(());
}

/// The life of a thread.
fn work(number: ThreadId, job: super::task::Job) {
    here().me().left = true;
    let life = catch_unwind(AssertUnwindSafe(|| {
        if number > 0 {
            let begin = Op::new(Kind::Begin, AccessType::Read, names::thread(number));
            step(0, begin, Wait::Nothing, |_| (begin, ()));
        }
        job();
        crate::thread::local::drop_all();
        let end = Op::new(Kind::End, AccessType::Write, names::thread(number));
        step(0, end, Wait::Nothing, |world| {
            finish(world, number);
            (end, ())
        });
        let world = here();
        world.player.set(number, State::Blocked, &mut world.trace);
    }));
    if let Err(payload) = life {
        died(number, &*payload);
    }
    let world = here();
    if !world.me().ended {
        finish(world, number);
    }
    world.me().left = false;
}

fn finish(world: &mut World, number: ThreadId) {
    let task = &mut world.tasks[number as usize];
    task.ended = true;
    world.live -= 1;
}

/// A thread has panicked: unless somebody may hear of it, that's the end.
pub fn died(number: ThreadId, payload: &(dyn std::any::Any + Send)) {
    let Some(dead) = panics::autopsy(payload) else { return };
    let world = here();
    let message = dead.message.clone();
    world.dead.push((number, dead));
    if number == 0 || !world.may_panic {
        world.fail(Failure::Assertion(message));
    }
}

/// Drops all that is left on stacks, of an execution that was given up.
pub fn unwind_all(workers: &mut Workers, world: *mut World) {
    // SAFETY: no coroutine runs, and references end before the next one does.
    let here = || unsafe { &mut *world };
    // Who can't be unwound at once may wait for another.
    for _ in 0..3 {
        // Scoped threads may use what is on the stacks of those who made them: the last one goes first.
        for number in (0..here().threads).rev() {
            let task = &mut here().tasks[number as usize];
            if task.left {
                here().current = number;
                workers.get(number).run(world);
            } else {
                drop(task.job.take());
            }
        }
    }
    if here().tasks[..here().threads as usize].iter().any(|task| task.left) {
        eprintln!("seqcst: a thread can't be ended: a destructor waits for what will never come");
        std::process::abort();
    }
}
