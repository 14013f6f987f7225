//! What `seqcst explore` wants to know of an execution.

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};
use seqcst_schedule::wire::Header;

static SETTINGS: AtomicU32 = AtomicU32::new(0);

const RA: u32 = 2;
const TSO: u32 = 3;
const MONITOR: u32 = 3;
const RACES: u32 = 4;
const REPORTS: u32 = 8;
const OUTPUT: u32 = 16;
const MIXED: u32 = 32;

/// The settings of this execution.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Settings(u32);

/// The settings of this execution.
#[inline]
pub fn get() -> Settings {
    Settings(SETTINGS.load(Relaxed))
}

/// Sets them as the header says.
pub fn set(header: &Header) {
    let flag = |value: u32, bit: u32| if value == 0 { 0 } else { bit };
    let flags = flag(header.races, RACES) | flag(header.reports, REPORTS) | flag(header.output, OUTPUT);
    let mixed = flag(header.mixed.load(Relaxed), MIXED);
    SETTINGS.store(header.monitor & MONITOR | flags | mixed, Relaxed);
}

impl Settings {
    /// As a sanitizer, outside of explorations: the monitor is the one that threads have.
    pub const SANITIZER: Settings = Settings(1);

    /// Is there a monitor, or are races looked for?
    #[inline]
    pub fn watches(self) -> bool {
        self.0 & (MONITOR | RACES) != 0
    }

    /// Is some access to be called stale?
    #[inline]
    pub fn has_model(self) -> bool {
        self.0 & MONITOR != 0
    }

    /// Every access acquires and releases.
    pub fn is_ra(self) -> bool {
        self.0 & MONITOR == RA
    }

    /// Stores wait in buffers.
    #[inline]
    pub fn is_tso(self) -> bool {
        self.0 & MONITOR == TSO
    }

    /// Look for data races.
    pub fn races(self) -> bool {
        self.0 & RACES != 0
    }

    /// Atomic accesses of different sizes overlap.
    #[inline]
    pub fn mixed(self) -> bool {
        self.0 & MIXED != 0
    }

    /// Make full reports.
    #[inline]
    pub fn reports(self) -> bool {
        self.0 & REPORTS != 0
    }

    /// The program may write to standard output and standard error.
    pub fn output(self) -> bool {
        self.0 & OUTPUT != 0
    }
}
