//! Is this concurrent library robust for every client (\[RoboCop24])? Proof, clients that refute it, composition.
//!
//! * [`verify`]: from source to a verdict;
//! * [`client`]: bounded clients, checked exhaustively; [`compose`]: clients of several libraries;
//! * [`mutate`]: weakened copies, which the others have to tell from the original.
//!
//! The C11 front end is `seqcst-c11`, the proof `seqcst-proof`; both are here under their names.

pub use seqcst_c11 as c;
pub use seqcst_c11::code;
pub use seqcst_proof::{prove, rho, solver};

pub mod client;
pub mod compose;
pub mod mutate;
pub mod verify;
