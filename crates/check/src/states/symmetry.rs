//! Interchangeable threads: of all states that differ only in who is who, one is kept.
//!
//! Threads with the same code are interchangeable: permuting their blocks maps runs to runs. A state's
//! representative has the blocks of each group sorted. (Where the monitor also has data about pairs of threads, two
//! representatives of one orbit may remain: less reduction, nothing lost.)

use super::locals::Locals;
use seqcst_monitor::finite::Monitor;

/// Groups of interchangeable threads.
pub struct Symmetry {
    groups: Vec<Vec<usize>>,
}

impl Symmetry {
    pub fn of(locals: &Locals, enabled: bool) -> Symmetry {
        let threads = locals.machine().code().threads.len();
        let mut groups: Vec<Vec<usize>> = Vec::new();
        if enabled {
            for class in 0..threads {
                let group: Vec<usize> = (0..threads).filter(|&t| locals.class(t) == class).collect();
                if group.len() > 1 {
                    groups.push(group);
                }
            }
        }
        Symmetry { groups }
    }

    /// Sorts the blocks of each group; `who[t]` follows the threads to their new places.
    pub fn canonicalise(&self, monitor: &dyn Monitor, state: &mut [u64], who: &mut [usize]) {
        let shape = monitor.shape();
        let size = shape.thread_widths.len();
        for group in &self.groups {
            for end in 1..group.len() {
                for at in (1..=end).rev() {
                    let (a, b) = (group[at - 1], group[at]);
                    let (first, second) = (shape.thread(a), shape.thread(b));
                    if state[first..first + size] <= state[second..second + size] {
                        break;
                    }
                    monitor.swap(state, a, b);
                    who.swap(a, b);
                }
            }
        }
    }

    /// Whether there is anything to do.
    pub fn is_trivial(&self) -> bool {
        self.groups.is_empty()
    }
}
