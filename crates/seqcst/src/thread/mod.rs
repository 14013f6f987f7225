//! Threads with the interface of [`std::thread`].

pub(crate) mod local;
mod park;
mod scope;

pub use local::{AccessError, LocalKey};
pub use park::{Thread, ThreadId, current, park, park_timeout};
pub use scope::{Scope, ScopedJoinHandle, scope};
pub use std::thread::{Result, available_parallelism, panicking};

use crate::rt::task::Job;
use crate::rt::world::names;
use crate::rt::{self, here, note, site, step, wait::Wait, worker};
use park::Who;
use seqcst_explore::{AccessType, Kind, Op};
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

type Packet<T> = std::sync::Arc<std::sync::Mutex<Option<Result<T>>>>;

/// A thread panicked, and nobody has joined it.
type Unheard = std::sync::Arc<std::sync::atomic::AtomicBool>;

/// Waits for a thread, like [`std::thread::JoinHandle`].
#[derive(Debug)]
pub struct JoinHandle<T>(Handle<T>);

#[derive(Debug)]
enum Handle<T> {
    Real(std::thread::JoinHandle<T>, Thread),
    Inside(Inside<T>),
}

/// A thread of a model, to be joined.
#[derive(Debug)]
struct Inside<T> {
    thread: Thread,
    number: u32,
    packet: Packet<T>,
    unheard: Unheard,
}

/// Makes a thread, like [`std::thread::Builder`].
#[derive(Debug, Default)]
pub struct Builder {
    name: Option<String>,
    stack_size: Option<usize>,
}

impl Builder {
    /// Nothing special.
    #[must_use]
    pub fn new() -> Builder {
        Builder::default()
    }

    /// Its name.
    #[must_use]
    pub fn name(mut self, name: String) -> Builder {
        self.name = Some(name);
        self
    }

    /// The size of its stack; inside a model all stacks have the same (see [`crate::Builder::stack_size`]).
    #[must_use]
    pub fn stack_size(mut self, size: usize) -> Builder {
        self.stack_size = Some(size);
        self
    }

    /// Starts the thread.
    ///
    /// # Errors
    /// As [`std::thread::Builder::spawn`].
    #[track_caller]
    pub fn spawn<F, T>(self, f: F) -> std::io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        if rt::inside() {
            // SAFETY: nothing is borrowed: what the thread has and returns is static.
            let inside = unsafe { spawn_inside(self.name, f, site::number(Location::caller())) };
            return Ok(JoinHandle(Handle::Inside(inside)));
        }
        let mut real = std::thread::Builder::new();
        if let Some(name) = self.name {
            real = real.name(name);
        }
        if let Some(size) = self.stack_size {
            real = real.stack_size(size);
        }
        let real = real.spawn(f)?;
        let thread = Thread::real(real.thread().clone());
        Ok(JoinHandle(Handle::Real(real, thread)))
    }
}

/// Starts a thread.
///
/// # Panics
/// If there can't be one more.
#[track_caller]
pub fn spawn<F, T>(f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    Builder::new().spawn(f).expect("a new thread")
}

/// Starts a thread of the model.
///
/// # Safety
/// The thread must have ended, or have been unwound, before anything that it borrows is gone.
unsafe fn spawn_inside<'a, F, T>(name: Option<String>, f: F, site: site::Site) -> Inside<T>
where
    F: FnOnce() -> T + 'a,
    T: 'a,
{
    let packet = Packet::<T>::default();
    let unheard = Unheard::default();
    let (result, dies) = (packet.clone(), unheard.clone());
    let job: Box<dyn FnOnce() + 'a> = Box::new(move || match catch_unwind(AssertUnwindSafe(f)) {
        Ok(value) => *result.lock().unwrap() = Some(Ok(value)),
        Err(payload) => {
            worker::died(here().current, &*payload);
            if rt::is_aborted() {
                resume_unwind(payload);
            }
            dies.store(true, Relaxed);
            *result.lock().unwrap() = Some(Err(payload));
        }
    });
    // SAFETY: promised by the caller.
    let job: Job = unsafe { std::mem::transmute::<Box<dyn FnOnce() + 'a>, Job>(job) };
    let spawn = |number| {
        Op::new(Kind::Spawn, AccessType::Write, names::thread(number)).and(AccessType::Write, names::SPAWNS)
    };
    let handle_name = name.clone();
    let number = step(site, spawn(here().threads), Wait::Nothing, move |world| {
        let number = world.add_thread(name, job);
        world.watch_spawn(number);
        world.me().spin.clear();
        note(world, || format!("spawn thread {number}"));
        (spawn(number), number)
    });
    let thread = Thread::inside(Who { number, stamp: here().stamp }, handle_name);
    Inside { thread, number, packet, unheard }
}

impl<T> Inside<T> {
    #[track_caller]
    fn join(&self) -> Result<T> {
        let (number, site) = (self.number, site::number(Location::caller()));
        join(number, site);
        self.unheard.store(false, Relaxed);
        let result = self.packet.lock().unwrap().take();
        // None only if the execution was given up while this thread is being unwound.
        result.unwrap_or_else(|| Err(Box::new("the execution was given up")))
    }

    fn is_finished(&self) -> bool {
        let look = Op::new(Kind::Load, AccessType::Read, names::thread(self.number));
        step(0, look, Wait::Nothing, |world| (look, world.tasks[self.number as usize].ended))
    }
}

/// Waits for the end of a thread.
fn join(number: u32, site: site::Site) {
    let op = Op::new(Kind::Join, AccessType::Read, names::thread(number));
    step(site, op, Wait::Ended(number), |world| {
        let (me, other) = (world.current as usize, number as usize);
        if me != other && world.tasks[other].ended {
            let [mine, theirs] = world.tasks.get_disjoint_mut([me, other]).expect("two threads");
            mine.views.join(&theirs.views);
        }
        world.me().spin.clear();
        note(world, || format!("join thread {number}"));
        (op, ())
    });
}

impl<T> JoinHandle<T> {
    /// Waits for the thread's end.
    ///
    /// # Errors
    /// What it panicked with.
    #[track_caller]
    pub fn join(self) -> Result<T> {
        match self.0 {
            Handle::Real(real, _) => real.join(),
            Handle::Inside(inside) => inside.join(),
        }
    }

    /// The thread.
    #[must_use]
    pub fn thread(&self) -> &Thread {
        match &self.0 {
            Handle::Real(_, thread) => thread,
            Handle::Inside(inside) => &inside.thread,
        }
    }

    /// Has it ended?
    #[must_use]
    pub fn is_finished(&self) -> bool {
        match &self.0 {
            Handle::Real(real, _) => real.is_finished(),
            Handle::Inside(inside) => inside.is_finished(),
        }
    }
}

/// Offers the turn to others; in a loop, it says that the thread waits.
#[track_caller]
pub fn yield_now() {
    if rt::inside() {
        rt::access::hint();
        offer("yield", site::number(Location::caller()));
    } else {
        std::thread::yield_now();
    }
}

/// Offers the turn to others. Inside a model no time passes.
#[track_caller]
pub fn sleep(time: Duration) {
    if rt::inside() {
        rt::access::hint();
        offer("sleep", site::number(Location::caller()));
    } else {
        std::thread::sleep(time);
    }
}

fn offer(what: &str, site: site::Site) {
    let op = Op::local(Kind::Yield);
    step(site, op, Wait::Offer, |world| {
        note(world, || what.to_owned());
        (op, ())
    });
}
