//! The receiving end.

use super::inside::Channel;
use super::{RecvError, RecvTimeoutError, TryRecvError, real};
use crate::rt::site;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

/// Like [`std::sync::mpsc::Receiver`].
#[derive(Debug)]
pub struct Receiver<T>(Kind<T>);

#[derive(Debug)]
enum Kind<T> {
    Real(real::Receiver<T>),
    Inside(Arc<Channel<T>>),
}

impl<T> Receiver<T> {
    pub(super) fn real(receiver: real::Receiver<T>) -> Receiver<T> {
        Receiver(Kind::Real(receiver))
    }

    pub(super) fn inside(channel: Arc<Channel<T>>) -> Receiver<T> {
        Receiver(Kind::Inside(channel))
    }

    /// Waits for a message.
    ///
    /// # Errors
    /// If there is none, and no sender any more.
    #[track_caller]
    pub fn recv(&self) -> Result<T, RecvError> {
        match &self.0 {
            Kind::Real(real) => real.recv(),
            Kind::Inside(channel) => channel.recv(site::number(Location::caller())),
        }
    }

    /// Takes a message if there is one.
    ///
    /// # Errors
    /// If there is none.
    #[track_caller]
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        match &self.0 {
            Kind::Real(real) => real.try_recv(),
            Kind::Inside(channel) => channel.try_recv(site::number(Location::caller())),
        }
    }

    /// Waits for a message, but not longer than this: inside a model, the time can be up at any moment.
    ///
    /// # Errors
    /// If there is none.
    #[track_caller]
    pub fn recv_timeout(&self, time: Duration) -> Result<T, RecvTimeoutError> {
        match &self.0 {
            Kind::Real(real) => real.recv_timeout(time),
            Kind::Inside(channel) => channel.recv_timeout(site::number(Location::caller())),
        }
    }

    /// All messages, until there is no sender any more.
    pub fn iter(&self) -> Iter<'_, T> {
        Iter(self)
    }

    /// All messages that are there.
    pub fn try_iter(&self) -> TryIter<'_, T> {
        TryIter(self)
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        if let Kind::Inside(channel) = &self.0 {
            channel.close();
        }
    }
}

/// See [`Receiver::iter`].
#[derive(Debug)]
pub struct Iter<'a, T>(&'a Receiver<T>);

/// See [`Receiver::try_iter`].
#[derive(Debug)]
pub struct TryIter<'a, T>(&'a Receiver<T>);

/// All messages, until there is no sender any more.
#[derive(Debug)]
pub struct IntoIter<T>(Receiver<T>);

impl<T> Iterator for Iter<'_, T> {
    type Item = T;

    #[track_caller]
    fn next(&mut self) -> Option<T> {
        self.0.recv().ok()
    }
}

impl<T> Iterator for TryIter<'_, T> {
    type Item = T;

    #[track_caller]
    fn next(&mut self) -> Option<T> {
        self.0.try_recv().ok()
    }
}

impl<T> Iterator for IntoIter<T> {
    type Item = T;

    #[track_caller]
    fn next(&mut self) -> Option<T> {
        self.0.recv().ok()
    }
}

impl<'a, T> IntoIterator for &'a Receiver<T> {
    type Item = T;
    type IntoIter = Iter<'a, T>;

    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

impl<T> IntoIterator for Receiver<T> {
    type Item = T;
    type IntoIter = IntoIter<T>;

    fn into_iter(self) -> IntoIter<T> {
        IntoIter(self)
    }
}
