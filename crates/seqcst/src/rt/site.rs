//! Where in the program: source locations as numbers of 32 bits, which is what monitors and traces keep.

use std::panic::Location;

/// A place in the source, as a number; 0: unknown.
pub type Site = u32;

type Place = &'static Location<'static>;

/// Locations are data of the program, close to one another: the distance to one of them is number enough.
fn origin() -> isize {
    static ORIGIN: Place = Location::caller();
    std::ptr::from_ref(ORIGIN).addr() as isize
}

/// The number of a location.
#[inline]
pub fn number(place: Place) -> Site {
    let distance = std::ptr::from_ref(place).addr() as isize - origin();
    i32::try_from(distance).map_or(0, |distance| distance as u32 ^ 1)
}

/// The location of a number that [`number`] gave.
pub fn place(site: Site) -> Option<Place> {
    if site == 0 {
        return None;
    }
    let distance = (site ^ 1) as i32 as isize;
    // SAFETY: the number came from a location with static lifetime (locations are aligned, so that no distance is odd).
    Some(unsafe { &*std::ptr::with_exposed_provenance::<Location<'static>>((origin() + distance) as usize) })
}
