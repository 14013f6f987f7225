//! Channels inside a model. To send or to receive is one step; a message brings along what its sender knew.

use super::{RecvError, RecvTimeoutError, SendError, TryRecvError, TrySendError};
use crate::rt::world::{World, names};
use crate::rt::{self, here, note, site::Site, step, tag::Tag, wait::Wait};
use seqcst_explore::{AccessType, Kind, Object, Op};
use seqcst_monitor::clocks::run::Message;
use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex};

/// A channel: the messages, and its number in this execution.
pub struct Channel<T> {
    messages: Mutex<VecDeque<T>>,
    id: u32,
    stamp: u64,
    room: Option<usize>,
}

impl<T> fmt::Debug for Channel<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Channel").finish_non_exhaustive()
    }
}

/// A place from which messages can be sent.
#[derive(Debug)]
pub struct Place<T>(pub Arc<Channel<T>>);

impl<T> Channel<T> {
    /// An empty one, with one sender.
    pub fn new(room: Option<usize>) -> Arc<Channel<T>> {
        let world = here();
        let id = world.channels.add(&Tag::new(), world.stamp);
        let channel = world.channels.get(id);
        (channel.room, channel.senders) = (room, 1);
        Arc::new(Channel { messages: Mutex::default(), id, stamp: world.stamp, room })
    }

    /// The messages, as an object; the number of senders is another one.
    fn messages(&self) -> Object {
        names::CHANNEL + 2 * Object::from(self.id)
    }

    fn senders(&self) -> Object {
        self.messages() + 1
    }

    /// Is it of the execution that the caller is in? (Else somebody has kept it.)
    fn is_here(&self) -> bool {
        rt::world().is_some_and(|world| world.stamp == self.stamp)
    }

    fn put(&self, world: &mut World, message: T) -> u64 {
        let task = &mut world.tasks[world.current as usize];
        task.spin.clear();
        let mut knows = Message::default();
        task.views.release(&mut knows);
        let channel = world.channels.get(self.id);
        channel.filled.push_back(knows);
        channel.sent += 1;
        self.messages.lock().unwrap().push_back(message);
        channel.sent - 1
    }

    fn receive(&self, wait: Wait, site: Site) -> Result<T, TryRecvError> {
        if !self.is_here() {
            return Err(TryRecvError::Disconnected);
        }
        let id = self.id;
        let taken = Op::new(Kind::Take, AccessType::Write, self.messages());
        let looked =
            Op::new(Kind::TryLock, AccessType::Read, self.messages()).and(AccessType::Write, self.senders());
        step(site, taken.and(AccessType::Write, self.senders()), wait, |world| {
            let channel = world.channels.get(id);
            let task = &mut world.tasks[world.current as usize];
            if let Some(knows) = channel.filled.pop_front() {
                channel.received += 1;
                task.views.acquire(&knows);
                if self.room == Some(0) {
                    task.views.release(&mut channel.met);
                }
                task.spin.clear();
                note(world, || format!("receive from q{id}"));
                let message = self.messages.lock().unwrap().pop_front();
                return (taken, message.ok_or(TryRecvError::Disconnected));
            }
            if channel.senders > 0 {
                note(world, || format!("receive from q{id}: empty"));
                return (looked, Err(TryRecvError::Empty));
            }
            task.views.acquire(&channel.gone);
            note(world, || format!("receive from q{id}: no sender"));
            (looked, Err(TryRecvError::Disconnected))
        })
    }

    /// Waits for a message.
    pub fn recv(&self, site: Site) -> Result<T, RecvError> {
        self.receive(Wait::Filled(self.id, false), site).map_err(|_| RecvError)
    }

    /// Takes a message if there is one.
    pub fn try_recv(&self, site: Site) -> Result<T, TryRecvError> {
        self.receive(Wait::Nothing, site)
    }

    /// Waits for a message, or until the time is up, which can be at any moment.
    pub fn recv_timeout(&self, site: Site) -> Result<T, RecvTimeoutError> {
        self.receive(Wait::Filled(self.id, true), site).map_err(|error| match error {
            TryRecvError::Empty => RecvTimeoutError::Timeout,
            TryRecvError::Disconnected => RecvTimeoutError::Disconnected,
        })
    }

    /// Nobody will receive any more.
    pub fn close(&self) {
        if !self.is_here() {
            return;
        }
        let closed = Op::new(Kind::Take, AccessType::Write, self.messages());
        let left = step(0, closed, Wait::Nothing, |world| {
            note(world, || format!("close q{}", self.id));
            let channel = world.channels.get(self.id);
            channel.closed = true;
            channel.filled.clear();
            // Without room, its sender is still there and takes the message back.
            let left = match self.room {
                Some(0) => VecDeque::new(),
                _ => std::mem::take(&mut *self.messages.lock().unwrap()),
            };
            (closed, left)
        });
        drop(left);
    }
}

impl<T> Place<T> {
    /// Sends as soon as there is room.
    pub fn send(&self, message: T, site: Site) -> Result<(), SendError<T>> {
        let channel = &*self.0;
        if !channel.is_here() {
            return Err(SendError(message));
        }
        let sent = Op::new(Kind::Post, AccessType::Write, channel.messages());
        let number = step(site, sent, Wait::Room(channel.id), |world| {
            note(world, || format!("send to q{}", channel.id));
            if world.channels.get(channel.id).closed {
                return (Op::new(Kind::Post, AccessType::Read, channel.messages()), Err(SendError(message)));
            }
            (sent, Ok(channel.put(world, message)))
        })?;
        if channel.room == Some(0) {
            let met = Op::new(Kind::Wake, AccessType::Read, channel.messages());
            return step(site, met, Wait::Taken(channel.id, number), |world| {
                let state = world.channels.get(channel.id);
                if state.received > number {
                    world.tasks[world.current as usize].views.acquire(&state.met);
                    return (met, Ok(()));
                }
                note(world, || format!("nobody receives from q{} any more", channel.id));
                (
                    met,
                    channel.messages.lock().unwrap().pop_front().map_or(Ok(()), |back| Err(SendError(back))),
                )
            });
        }
        Ok(())
    }

    /// Sends if there is room. (Without any room somebody would have to be receiving just now.)
    pub fn try_send(&self, message: T, site: Site) -> Result<(), TrySendError<T>> {
        let channel = &*self.0;
        if !channel.is_here() {
            return Err(TrySendError::Disconnected(message));
        }
        let sent = Op::new(Kind::Post, AccessType::Write, channel.messages());
        let looked = Op::new(Kind::TryLock, AccessType::Read, channel.messages());
        step(site, sent, Wait::Nothing, |world| {
            note(world, || format!("try to send to q{}", channel.id));
            let state = world.channels.get(channel.id);
            if state.closed {
                return (looked, Err(TrySendError::Disconnected(message)));
            }
            if channel.room == Some(0) || !state.can_send() {
                return (looked, Err(TrySendError::Full(message)));
            }
            channel.put(world, message);
            (sent, Ok(()))
        })
    }
}

impl<T> Clone for Place<T> {
    fn clone(&self) -> Place<T> {
        if self.0.is_here() {
            here().channels.get(self.0.id).senders += 1;
        }
        Place(self.0.clone())
    }
}

impl<T> Drop for Place<T> {
    fn drop(&mut self) {
        let channel = &*self.0;
        if !channel.is_here() {
            return;
        }
        // Among themselves the senders may go in any order; who finds that none is left comes after all of them.
        let gone = Op::new(Kind::Post, AccessType::Read, channel.senders());
        step(0, gone, Wait::Nothing, |world| {
            note(world, || format!("drop a sender of q{}", channel.id));
            let state = world.channels.get(channel.id);
            state.senders -= 1;
            world.tasks[world.current as usize].views.release(&mut state.gone);
            (gone, ())
        });
    }
}
