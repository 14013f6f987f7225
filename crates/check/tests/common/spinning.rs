//! Random programs with spin loops: waiting for a value, test-and-set, compare-and-swap.

use super::Drawn;
use seqcst_model::sample::Random;
use std::fmt;

/// A program: for each thread its statements.
#[derive(Clone, Debug)]
pub struct Spinning {
    threads: Vec<Vec<String>>,
}

impl Drawn for Spinning {
    fn draw(seed: u64) -> Spinning {
        let mut random = Random::new(seed ^ 0x5b1_4400);
        let threads = 2 + random.below(2);
        let body = |random: &mut Random| {
            let many = 1 + random.below(if threads > 2 { 2 } else { 3 });
            (0..many).map(|_| statement(random)).collect()
        };
        Spinning { threads: (0..threads).map(|_| body(&mut random)).collect() }
    }

    fn smaller(&self) -> Vec<Spinning> {
        let mut found = Vec::new();
        for thread in 0..self.threads.len() {
            for at in 0..self.threads[thread].len() {
                let mut less = self.clone();
                less.threads[thread].remove(at);
                found.push(less);
            }
        }
        found
    }
}

fn statement(random: &mut Random) -> String {
    let [load, store] = [["rlx", "rlx"], ["acq", "rel"], ["acq", "rel"], ["sc", "sc"]][random.below(4)];
    let (x, y) = [("x", "y"), ("y", "x")][random.below(2)];
    match random.below(12) {
        0..=2 => format!("{x}.store(1, {store});"),
        3 => format!("{x}.store(0, {store});"),
        4 => format!("r = {x}.load({load});"),
        5 => format!("r = FADD({x}, 1, {load}, {store});"),
        6 | 7 => format!("r = 0; while (r == 0) {{ r = {x}.load({load}); }}"),
        8 => format!(
            "r = 0; s = 0; while (r == 0 || s == 0) {{ r = {x}.load({load}); s = {y}.load({load}); }}"
        ),
        9 => format!("r = 1; while (r) {{ r = exchange({x}, 1, {load}, {store}); }}"),
        10 => format!("r = 1; while (r) {{ r = CAS({x}, 0, 1, {load}, {store}); }}"),
        _ => format!("r = 0; while (r == 0) {{ r = WCAS({x}, 0, 1, {load}, {store}); }}"),
    }
}

impl fmt::Display for Spinning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "max_value 3;\nglobal x, y;")?;
        for (number, body) in self.threads.iter().enumerate() {
            writeln!(f, "\nfn t{number} {{\n    local r, s;\n    {}\n}}", body.join("\n    "))?;
        }
        Ok(())
    }
}
