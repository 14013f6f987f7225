//! Random programs in the manner of litmus tests: few accesses to few locations, every store a value of its own.

use seqcst_model::sample::Random;
use std::fmt::Write;

/// A program with a thread body that runs twice, or with a loop.
pub fn repeated(seed: u64) -> String {
    let mut random = Random::new(seed);
    let locations = &["x", "y"];
    let mut value = 0;
    let mut body = |random: &mut Random, accesses: usize, indent: &str| {
        let mut text = String::new();
        for _ in 0..accesses {
            value += 1;
            let x = locations[random.below(2)];
            let statement = match random.below(12) {
                0..=4 => format!("r = {x}.load({});", ["rlx", "rlx", "acq", "sc"][random.below(4)]),
                5..=9 => format!("{x}.store({value}, {});", ["rlx", "rlx", "rel", "sc"][random.below(4)]),
                10 => format!("r = exchange({x}, {value}, {});", both(random)),
                _ => "fence;".to_string(),
            };
            let _ = writeln!(text, "{indent}{statement}");
        }
        text
    };
    let (first, second) = if random.one_in(2) {
        let first = body(&mut random, 2, "    ");
        (format!("fn t[2] {{\n    local r;\n{first}}}\n"), body(&mut random, 1, "    "))
    } else {
        let before = body(&mut random, 1, "    ");
        let inside = body(&mut random, 2, "        ");
        let text = "    while (n < 2) {\n";
        let first =
            format!("fn t {{\n    local r, n;\n{before}{text}{inside}        n = n + 1;\n    }}\n}}\n");
        (first, body(&mut random, 2, "    "))
    };
    format!("max_value 15;\nglobal x, y;\n\n{first}\nfn u {{\n    local r;\n{second}}}\n")
}

/// Draws a program: 2 or 3 threads of 2 accesses or more, 9 in all at most, 2 or 3 locations, as TPL.
pub fn program(seed: u64) -> String {
    let mut random = Random::new(seed);
    let threads = if random.one_in(3) { 3 } else { 2 };
    let locations = &["x", "y", "z"][..if random.one_in(3) { 3 } else { 2 }];
    let accesses = 2 * threads + random.below(4);
    let mut bodies = vec![String::new(); threads];
    let mut has_read = vec![false; threads];
    let mut value = 0;
    for number in 0..accesses {
        let thread = if number < 2 * threads { number % threads } else { random.below(threads) };
        let x = locations[random.below(locations.len())];
        value += 1;
        let written = if has_read[thread] && random.one_in(4) { "r".to_string() } else { value.to_string() };
        let mode = |random: &mut Random, half: &'static str| match random.below(8) {
            0..=4 => "rlx",
            5 => "sc",
            _ => half,
        };
        let statement = match random.below(20) {
            0..=7 => format!("r = {x}.load({});", mode(&mut random, "acq")),
            8..=14 => format!("{x}.store({written}, {});", mode(&mut random, "rel")),
            15 => format!("r = exchange({x}, {written}, {});", both(&mut random)),
            16 => format!("r = FADD({x}, {written}, {});", both(&mut random)),
            17 => format!("r = CAS({x}, {}, {written}, {});", random.below(2), both(&mut random)),
            18 => "fence;".to_string(),
            _ => format!("fence({});", ["acq", "rel", "acq_rel"][random.below(3)]),
        };
        let guarded = has_read[thread] && random.one_in(8);
        has_read[thread] |= statement.starts_with("r = ") && !guarded;
        let line = if guarded { format!("if (r != 0) {{ {statement} }}") } else { statement };
        let _ = writeln!(bodies[thread], "    {line}");
    }
    let mut text = format!("max_value 15;\nglobal {};\n", locations.join(", "));
    for (number, body) in bodies.iter().enumerate() {
        let _ = write!(text, "\nfn t{number} {{\n    local r;\n{body}}}\n");
    }
    text
}

fn both(random: &mut Random) -> &'static str {
    ["rlx, rlx", "rlx, rlx", "acq, rlx", "rlx, rel", "acq, rel", "sc, sc"][random.below(6)]
}
