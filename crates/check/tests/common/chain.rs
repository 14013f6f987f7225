//! Programs in which one location takes many values and others are compared with computed ones: more values than a
//! monitor makes room for at first.

use super::Drawn;
use seqcst_model::sample::Random;
use std::fmt;

/// A thread that counts up in `x` and says so in `y`, and a thread that watches.
#[derive(Clone, Debug)]
pub struct Chain {
    counter: Vec<String>,
    watcher: Vec<String>,
}

impl Drawn for Chain {
    fn draw(seed: u64) -> Chain {
        let mut random = Random::new(seed ^ 0xc4a1);
        let modes = |random: &mut Random| [["rlx", "rlx"], ["acq", "rel"]][random.below(2)];
        let mut counter: Vec<String> = (1..=8 + random.below(3))
            .map(|value| format!("x.store({value}, {});", modes(&mut random)[1]))
            .collect();
        for _ in 0..1 + random.below(2) {
            let [load, store] = modes(&mut random);
            let place = 5 + random.below(counter.len() - 4);
            let text = match random.below(3) {
                0 => format!("y.store({}, {store});", 1 + random.below(9)),
                1 => format!("r = y.load({load});"),
                _ => "fence;".to_owned(),
            };
            counter.insert(place, text);
        }
        let mut watcher = Vec::new();
        for place in 0..2 + random.below(2) {
            let [load, store] = modes(&mut random);
            let value = ["r", "r + 1", "8", "r + 7"][random.below(4)];
            let text = match random.below(if place == 0 { 2 } else { 7 }) {
                0 => format!("r = y.load({load});"),
                1 => format!("y.store({value}, {store});"),
                2 => format!("wait(x, {value}, {load});"),
                3 => format!("r = CAS(x, {value}, 11, {load}, {store});"),
                4 => format!("BCAS(x, {value}, 11, {load}, {store});"),
                5 => format!("r = x.load({load});"),
                _ => format!("wait(x, {value}, 7, {load});"),
            };
            watcher.push(text);
        }
        Chain { counter, watcher }
    }

    fn smaller(&self) -> Vec<Chain> {
        let without = |list: &Vec<String>, place: usize| {
            let mut list = list.clone();
            list.remove(place);
            list
        };
        let counter =
            (0..self.counter.len()).map(|p| Chain { counter: without(&self.counter, p), ..self.clone() });
        let watcher =
            (0..self.watcher.len()).map(|p| Chain { watcher: without(&self.watcher, p), ..self.clone() });
        counter.chain(watcher).collect()
    }
}

impl fmt::Display for Chain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "max_value 12;\nglobal x, y;")?;
        for (name, body) in [("counter", &self.counter), ("watcher", &self.watcher)] {
            writeln!(f, "\nfn {name} {{\n    local r;\n    {}\n}}", body.join("\n    "))?;
        }
        Ok(())
    }
}
