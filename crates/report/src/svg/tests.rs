//! Structural checks of the drawings.

use super::*;
use crate::samples;

/// Writes the drawings to the folder `SEQCST_SVG`, to look at.
#[test]
fn write_samples() {
    let Ok(folder) = std::env::var("SEQCST_SVG") else { return };
    for (name, finding) in samples::all() {
        if let Some(svg) = to_svg(&finding) {
            std::fs::write(format!("{folder}/{name}.svg"), svg).expect("writable folder");
        }
    }
}
