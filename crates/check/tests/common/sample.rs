//! Programs of `seqcst_model::sample`, which have a lowering of their own to compare with.

use super::Drawn;
use seqcst_model::Loc;
use seqcst_model::sample::{Kind, Random, RandomProgram, Shape, Statement};
use std::fmt;

/// A random program of straight-line threads.
#[derive(Clone, Debug)]
pub struct Sample(pub RandomProgram);

impl Sample {
    /// The name of the non-atomic location, if there is one: the last of those that the program prints.
    fn plain(&self) -> Option<&'static str> {
        self.0.non_atomic.then(|| ["x", "y", "z"][self.0.locations - 1])
    }
}

impl fmt::Display for Sample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = self.0.to_string();
        // TPL has names of their own for non-atomic accesses.
        if let Some(plain) = self.plain() {
            for method in ["load", "store"] {
                text = text.replace(&format!("{plain}.{method}("), &format!("{plain}.na{method}("));
            }
        }
        f.write_str(&text)
    }
}

/// The same, with many SC accesses and fences.
#[derive(Clone, Debug)]
pub struct ScSample(pub Sample);

impl AsRef<RandomProgram> for Sample {
    fn as_ref(&self) -> &RandomProgram {
        &self.0
    }
}

impl AsRef<RandomProgram> for ScSample {
    fn as_ref(&self) -> &RandomProgram {
        &self.0.0
    }
}

impl fmt::Display for ScSample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Drawn for ScSample {
    fn draw(seed: u64) -> ScSample {
        let Sample(program) = Sample::draw(seed);
        ScSample(Sample(program.mostly_sc(&mut Random::new(seed ^ 0x5c5c))))
    }

    fn smaller(&self) -> Vec<ScSample> {
        self.0.smaller().into_iter().map(ScSample).collect()
    }
}

impl Drawn for Sample {
    /// 2–4 threads and 4–8 statements on few locations, so that many accesses conflict; now and then one of the
    /// locations is not atomic, and now and then some threads are equal.
    fn draw(seed: u64) -> Sample {
        let mut random = Random::new(seed);
        let threads = [2, 2, 2, 3, 3, 4][random.below(6)];
        let statements = [4, 5, 6, 6, 7, 7, 8, 8][random.below(8)].max(threads + 1);
        let locations = [1, 2, 2, 2, 2, 3][random.below(6)];
        let non_atomic = locations > 1 && random.one_in(6);
        let shape = Shape { threads, statements, locations, non_atomic, modulus: 2 + random.below(3) as u32 };
        let mut program = RandomProgram::draw(&mut random, shape);
        match random.below(10) {
            0 | 1 => program.threads[1] = program.threads[0].clone(),
            2..=6 => cross(&mut random, &mut program, shape),
            _ => {}
        }
        cut(&mut program, 8);
        Sample(program)
    }

    fn smaller(&self) -> Vec<Sample> {
        let mut found = Vec::new();
        for thread in 0..self.0.threads.len() {
            let mut program = self.0.clone();
            program.threads.remove(thread);
            if !program.threads.is_empty() {
                found.push(Sample(program));
            }
            for place in 0..self.0.threads[thread].len() {
                let mut program = self.0.clone();
                program.threads[thread].remove(place);
                found.push(Sample(program));
                if self.0.threads[thread][place].guarded {
                    let mut program = self.0.clone();
                    program.threads[thread][place].guarded = false;
                    found.push(Sample(program));
                }
            }
        }
        found
    }
}

/// Puts two accesses into each of the first two threads, on two locations in opposite order, mostly stores before
/// loads: without such crossings (store buffering, message passing, two plus two writes) few programs are not robust.
fn cross(random: &mut Random, program: &mut RandomProgram, shape: Shape) {
    if shape.locations < 2 {
        return;
    }
    let stores = |s: &Statement| matches!(s.kind, Kind::Store(_));
    let loads = |s: &Statement| matches!(s.kind, Kind::Load | Kind::Cas(..));
    for (thread, [x, y]) in program.threads.iter_mut().zip([[Loc(0), Loc(1)], [Loc(1), Loc(0)]]) {
        let first = draw_access(random, shape, x, &stores);
        let second = draw_access(random, shape, y, &loads);
        thread.truncate(2);
        thread.insert(random.below(thread.len() + 1), first);
        thread.push(second);
    }
}

/// An access to the location, three times out of four of this kind.
fn draw_access(random: &mut Random, shape: Shape, loc: Loc, usual: &dyn Fn(&Statement) -> bool) -> Statement {
    let any = random.one_in(4);
    let fits = |s: &Statement| s.loc == loc && s.kind != Kind::Fence && (any || usual(s));
    loop {
        let drawn = RandomProgram::draw(random, Shape { threads: 1, statements: 1, ..shape });
        if let Some(statement) = drawn.threads.into_iter().flatten().find(fits) {
            return Statement { guarded: any && statement.guarded, ..statement };
        }
    }
}

/// No more than this many events: the brute force is exponential.
fn cut(program: &mut RandomProgram, most: usize) {
    let events = |program: &RandomProgram| -> usize {
        program.threads.iter().flatten().filter(|s| s.kind != Kind::Fence).count()
    };
    while events(program) > most {
        let longest = (0..program.threads.len()).max_by_key(|&t| program.threads[t].len()).unwrap_or(0);
        program.threads[longest].pop();
    }
}
