//! Comparing and printing graphs.

use super::Graph;
use std::fmt;

/// A name for a graph that does not depend on the order in which its events were added: equal for equal
/// graphs. Instruction sites and dependencies take no part in it.
#[derive(Clone, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Key(Vec<u32>);

impl<const W: usize> Graph<W> {
    /// A name under which graphs can be compared and collected.
    pub fn key(&self) -> Key {
        let mut order: Vec<usize> = (0..self.len()).collect();
        order.sort_by_key(|&a| (self.events[a].thread, self.events[a].index, a));
        let mut place = vec![0u32; self.len()];
        for (number, &a) in order.iter().enumerate() {
            place[a] = number as u32;
        }
        let mut key = Vec::with_capacity(6 * self.len());
        for &a in &order {
            let event = &self.events[a];
            let thread = event.thread.map_or(0, |thread| thread as u32 + 1);
            let kind = u32::from(event.is_read()) + 2 * u32::from(event.is_write());
            let loc = event.loc.map_or(0, |loc| u32::from(loc.0));
            key.push(thread << 16 | loc << 8 | (event.mode as u32) << 4 | kind);
            if let Some(value) = event.outcome.value_read() {
                key.push(value);
                key.push(self.source(a).map_or(u32::MAX, |write| place[write]));
            }
            if let Some(value) = event.outcome.value_written() {
                key.push(value);
                key.push(self.mo.before(a).len() as u32);
            }
        }
        Key(key)
    }
}

impl<const W: usize> fmt::Display for Graph<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (a, event) in self.events.iter().enumerate() {
            write!(f, "{a}: {event}")?;
            if let Some(write) = self.source(a).filter(|_| event.is_read()) {
                write!(f, "  reads from {write}")?;
            }
            if event.is_write() && !self.mo.after(a).is_empty() {
                let later: Vec<String> = self.mo.after(a).iter().map(|b| b.to_string()).collect();
                write!(f, "  mo-before {}", later.join(", "))?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}
