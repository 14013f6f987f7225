//! Threads that create and join one another, and that meet at objects other than atomics (\[RSAN25], §4.2).

use super::state::{Clock, LocationClocks, Object, Views};

impl LocationClocks {
    /// The thread creates another one, which gets the next number.
    pub fn create(&mut self, thread: usize) {
        let Views { sc, cur, .. } = self.threads[thread].clone();
        self.appear();
        self.learn(self.threads.len() - 1, &Object { sc, hb: cur });
    }

    /// There is one more thread that knows nothing.
    pub fn appear(&mut self) {
        let nothing = Clock(vec![0; self.places.len()]);
        let (sc, cur, rel) = (nothing.clone(), nothing.clone(), nothing.clone());
        self.threads.push(Views { sc, cur, rel, acq: nothing });
    }

    /// The thread waits for the end of another one.
    pub fn join(&mut self, thread: usize, ended: usize) {
        let Views { sc, cur, .. } = self.threads[ended].clone();
        self.learn(thread, &Object { sc, hb: cur });
    }

    /// The thread learns what was released at the object, as by locking a mutex.
    pub fn acquire(&mut self, thread: usize, object: usize) {
        let object = self.objects[object].clone();
        self.learn(thread, &object);
    }

    /// The thread adds what it knows to what is known at the object, as by unlocking a mutex.
    pub fn release(&mut self, thread: usize, object: usize) {
        let (views, object) = (&self.threads[thread], &mut self.objects[object]);
        object.sc.join(&views.sc);
        object.hb.join(&views.cur);
    }

    fn learn(&mut self, thread: usize, from: &Object) {
        let views = &mut self.threads[thread];
        views.sc.join(&from.sc);
        views.cur.join(&from.hb);
        views.acq.join(&from.hb);
    }
}
