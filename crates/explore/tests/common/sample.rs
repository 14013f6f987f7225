//! Programs of `seqcst_model::sample`, which have a lowering of their own to compare with.

use super::Drawn;
use seqcst_model::Loc;
use seqcst_model::sample::{Kind, Random, RandomProgram, Shape, Statement};
use std::fmt;

/// A random program of straight-line threads.
#[derive(Clone, Debug)]
pub struct Sample(pub RandomProgram);

impl fmt::Display for Sample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
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
        if random.one_in(6) {
            program.threads[1] = program.threads[0].clone();
        } else if random.one_in(3) {
            mirror(&mut program);
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

/// The second thread does what the first does, with the first two locations exchanged: many of the well-known shapes
/// (store buffering, Dekker, two-plus-two writes) are such pairs.
fn mirror(program: &mut RandomProgram) {
    let atomic = program.locations - usize::from(program.non_atomic);
    if atomic < 2 {
        return;
    }
    let mirrored = |statement: &Statement| {
        let loc = match statement.loc {
            Loc(0) => Loc(1),
            Loc(1) => Loc(0),
            other => other,
        };
        Statement { loc, ..statement.clone() }
    };
    program.threads[1] = program.threads[0].iter().map(mirrored).collect();
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
