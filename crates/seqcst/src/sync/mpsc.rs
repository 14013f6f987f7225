//! Channels with the interface of [`std::sync::mpsc`].

mod inside;
mod receiver;

pub use receiver::{IntoIter, Iter, Receiver, TryIter};
pub use std::sync::mpsc::{RecvError, RecvTimeoutError, SendError, TryRecvError, TrySendError};

use crate::rt::{self, site};
use inside::{Channel, Place};
use std::panic::Location;
use std::sync::mpsc as real;

/// A channel with room for any number of messages.
#[must_use]
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    if rt::inside() {
        let channel = Channel::new(None);
        return (Sender(SenderKind::Inside(Place(channel.clone()))), Receiver::inside(channel));
    }
    let (sender, receiver) = real::channel();
    (Sender(SenderKind::Real(sender)), Receiver::real(receiver))
}

/// A channel with room for so many messages.
#[must_use]
pub fn sync_channel<T>(room: usize) -> (SyncSender<T>, Receiver<T>) {
    if rt::inside() {
        let channel = Channel::new(Some(room));
        return (SyncSender(SyncSenderKind::Inside(Place(channel.clone()))), Receiver::inside(channel));
    }
    let (sender, receiver) = real::sync_channel(room);
    (SyncSender(SyncSenderKind::Real(sender)), Receiver::real(receiver))
}

/// Like [`std::sync::mpsc::Sender`].
#[derive(Debug)]
pub struct Sender<T>(SenderKind<T>);

#[derive(Debug)]
enum SenderKind<T> {
    Real(real::Sender<T>),
    Inside(Place<T>),
}

/// Like [`std::sync::mpsc::SyncSender`].
#[derive(Debug)]
pub struct SyncSender<T>(SyncSenderKind<T>);

#[derive(Debug)]
enum SyncSenderKind<T> {
    Real(real::SyncSender<T>),
    Inside(Place<T>),
}

impl<T> Sender<T> {
    /// Sends.
    ///
    /// # Errors
    /// The message, if there is no receiver any more.
    #[track_caller]
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        match &self.0 {
            SenderKind::Real(real) => real.send(message),
            SenderKind::Inside(place) => place.send(message, site::number(Location::caller())),
        }
    }
}

impl<T> SyncSender<T> {
    /// Sends as soon as there is room; without any room, waits until the message is received.
    ///
    /// # Errors
    /// The message, if there is no receiver any more.
    #[track_caller]
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        match &self.0 {
            SyncSenderKind::Real(real) => real.send(message),
            SyncSenderKind::Inside(place) => place.send(message, site::number(Location::caller())),
        }
    }

    /// Sends if there is room.
    ///
    /// # Errors
    /// The message, if there is no room or no receiver.
    #[track_caller]
    pub fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        match &self.0 {
            SyncSenderKind::Real(real) => real.try_send(message),
            SyncSenderKind::Inside(place) => place.try_send(message, site::number(Location::caller())),
        }
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Sender<T> {
        Sender(match &self.0 {
            SenderKind::Real(real) => SenderKind::Real(real.clone()),
            SenderKind::Inside(place) => SenderKind::Inside(place.clone()),
        })
    }
}

impl<T> Clone for SyncSender<T> {
    fn clone(&self) -> SyncSender<T> {
        SyncSender(match &self.0 {
            SyncSenderKind::Real(real) => SyncSenderKind::Real(real.clone()),
            SyncSenderKind::Inside(place) => SyncSenderKind::Inside(place.clone()),
        })
    }
}
