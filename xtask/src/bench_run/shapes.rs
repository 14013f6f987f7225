//! The synthetic programs: what `synthetic.c` is told.

/// Arguments of `synthetic.c`, see there.
#[derive(Clone, Copy)]
pub struct Shape {
    threads: u32,
    locations: u32,
    accesses: u32,
    fences: u32,
    mix: Mix,
    plain: u32,
    own: u32,
    seed: u32,
}

/// What accesses there are, in per cent; see `synthetic.c`.
#[derive(Clone, Copy)]
struct Mix {
    name: &'static str,
    updates: u32,
    stores: u32,
    relaxed: u32,
    ordered: u32,
}

const MIXES: [Mix; 6] = [
    Mix { name: "read-mostly", updates: 2, stores: 5, relaxed: 30, ordered: 65 },
    Mix { name: "write-heavy", updates: 10, stores: 60, relaxed: 40, ordered: 55 },
    Mix { name: "relaxed", updates: 10, stores: 30, relaxed: 95, ordered: 5 },
    Mix { name: "ordered", updates: 10, stores: 30, relaxed: 0, ordered: 100 },
    Mix { name: "updates", updates: 60, stores: 20, relaxed: 40, ordered: 55 },
    Mix { name: "strong", updates: 10, stores: 30, relaxed: 20, ordered: 30 },
];
/// Plain accesses for each atomic one.
const PLAIN: [u32; 4] = [0, 4, 16, 64];
const THREADS: [u32; 5] = [2, 4, 8, 16, 32];
const LOCATIONS: [u32; 5] = [10, 100, 1_000, 10_000, 60_000];
const FENCES: [u32; 4] = [0, 1, 5, 20];
/// Atomic accesses of a program.
const ACCESSES: u32 = 400_000;

/// Two programs for each number of threads and locations and each share of fences, 200 in all; a quarter of them for a quick look.
pub fn synthetic(quick: bool) -> Vec<Shape> {
    let mut shapes = Vec::new();
    for threads in THREADS {
        for locations in LOCATIONS {
            for fences in FENCES {
                for _ in 0..2 {
                    let number = shapes.len();
                    let mix = MIXES[number % MIXES.len()];
                    // A step through all combinations with the mix: 6 and 7 have no common factor.
                    let plain = PLAIN[number / 7 % PLAIN.len()];
                    let own = if number / 5 % 2 == 0 { 0 } else { 80 };
                    let seed = number as u32 + 1;
                    let accesses = ACCESSES;
                    shapes.push(Shape { threads, locations, accesses, fences, mix, plain, own, seed });
                }
            }
        }
    }
    // Each time another one of four, or some kinds would never be among them.
    let chosen = |number: usize| !quick || number % 4 == number / 4 % 4;
    shapes.into_iter().enumerate().filter(|(number, _)| chosen(*number)).map(|(_, shape)| shape).collect()
}

/// The same accesses on more and more locations: what one costs must not depend on their number.
pub fn by_locations() -> Vec<Shape> {
    let [mix, ..] = MIXES;
    let mix = Mix { updates: 20, stores: 30, ..mix };
    let shape = |locations| Shape {
        threads: 4,
        locations,
        accesses: 1_000_000,
        fences: 5,
        mix,
        plain: 0,
        own: 0,
        seed: 1,
    };
    LOCATIONS.map(shape).to_vec()
}

impl Shape {
    /// Short, and different for each of them.
    pub fn name(&self) -> String {
        let Shape { threads, locations, fences, mix, plain, .. } = self;
        let own = if self.own > 0 { " own" } else { "" };
        format!("{} t{threads} l{locations} f{fences} p{plain}{own} #{}", mix.name, self.seed)
    }

    /// For the command line.
    pub fn args(&self) -> Vec<String> {
        let Shape { threads, locations, accesses, fences, mix, plain, own, seed } = self;
        let numbers = [
            ("threads", threads),
            ("locations", locations),
            ("accesses", accesses),
            ("fences", fences),
            ("updates", &mix.updates),
            ("stores", &mix.stores),
            ("relaxed", &mix.relaxed),
            ("ordered", &mix.ordered),
            ("plain", plain),
            ("own", own),
            ("seed", seed),
        ];
        numbers.iter().map(|(name, number)| format!("{name}={number}")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn programs_are_many_and_different() {
        let shapes = synthetic(false);
        let names: BTreeSet<String> = shapes.iter().map(Shape::name).collect();
        assert!(shapes.len() >= 150 && names.len() == shapes.len());
        let mixes: BTreeSet<(&str, u32)> = shapes.iter().map(|shape| (shape.mix.name, shape.plain)).collect();
        assert_eq!(mixes.len(), MIXES.len() * PLAIN.len());
    }
}
