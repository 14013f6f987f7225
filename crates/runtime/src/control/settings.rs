//! What `seqcst explore` wants to know of an execution.

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};
use seqcst_explore::wire::Header;
use seqcst_model::Model;
use seqcst_monitor::clocks::run::orders_sc;

static SETTINGS: AtomicU32 = AtomicU32::new(0);

/// The number of the memory model; that of SC is 0.
const MODEL: u32 = 7;
const RACES: u32 = 8;
const REPORTS: u32 = 16;
const OUTPUT: u32 = 32;
const MIXED: u32 = 64;

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
    let model = Model::from_number(header.monitor).filter(|model| Model::WATCHED.contains(model));
    SETTINGS.store(model.unwrap_or(Model::Sc).number() | flags | mixed, Relaxed);
}

impl Settings {
    /// Is there a monitor, or are races looked for?
    #[inline]
    pub fn watches(self) -> bool {
        self.0 & (MODEL | RACES) != 0
    }

    /// Is some access to be called stale?
    #[inline]
    pub fn has_model(self) -> bool {
        self.0 & MODEL != 0
    }

    /// The memory model.
    pub fn model(self) -> Model {
        Model::from_number(self.0 & MODEL).unwrap_or(Model::Sc)
    }

    /// SC accesses and fences are ordered among themselves.
    #[inline]
    pub fn orders_sc(self) -> bool {
        orders_sc(self.model())
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
