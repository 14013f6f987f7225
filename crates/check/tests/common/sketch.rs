//! Random programs in all of TPL: branches, free choices, comparisons with computed values, replicated threads,
//! assertions, and bounded loops that can be printed as loops or unrolled.

use super::Drawn;
use seqcst_model::sample::Random;
use std::fmt::{self, Write};

/// A program.
#[derive(Clone, Debug)]
pub struct Sketch {
    max_value: u32,
    atomic: usize,
    /// There is one more location, a non-atomic one.
    plain: bool,
    threads: Vec<Thread>,
}

#[derive(Clone, Debug)]
struct Thread {
    /// Written as `fn t[copies]`.
    replicated: bool,
    copies: usize,
    body: Block,
}

type Block = Vec<Stmt>;

#[derive(Clone, Debug)]
enum Stmt {
    /// An access, with the semicolon; what it costs the brute force is 1.
    Access(String),
    /// Anything local.
    Local(String),
    If(String, Block, Block),
    OneOf(Block, Block),
    /// Twice, each time only if the condition holds.
    Loop(&'static str, Block),
}

const NAMES: [&str; 3] = ["x", "y", "z"];
const PLAIN: &str = "d";

/// How large a program to draw, in accesses.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    pub least: usize,
    pub most: usize,
    pub in_thread: usize,
}

impl Sketch {
    /// Draws a program of about this size.
    pub fn of_size(seed: u64, size: Size) -> Sketch {
        Sketch::with(seed, size, false)
    }

    fn with(seed: u64, size: Size, mostly_sc: bool) -> Sketch {
        let mut random = Random::new(seed ^ 0x5eed_0000_0000_0000);
        let atomic = [1, 2, 2, 2, 2, 3][random.below(6)];
        let plain = random.one_in(5);
        let max_value = 2 + random.below(3) as u32;
        let mut draw = Draw { max_value, atomic, plain, random, replicated: None, mostly_sc };
        let mut threads = Vec::new();
        let mut left = size.least + draw.random.below(size.most - size.least + 1);
        let wanted = 2 + draw.random.below(3);
        let crossing = atomic > 1 && draw.random.one_in(2);
        while left > 0 && threads.len() < wanted {
            let crosses = crossing && threads.len() < 2;
            let replicated = draw.random.one_in(if crosses { 6 } else { 3 });
            let copies = if replicated { 2 + usize::from(draw.random.one_in(4)) } else { 1 };
            let share = if threads.len() + 1 == wanted {
                left
            } else {
                1 + draw.random.below(size.in_thread.min(left))
            };
            let each = share.div_ceil(copies).min(size.in_thread);
            draw.replicated = (copies > 1 && draw.random.one_in(5)).then(|| format!("t{}", threads.len()));
            let body = match crosses {
                true => draw.crossing(threads.len(), (each / copies).saturating_sub(2).min(2)),
                false => draw.block(each, 0),
            };
            left = left.saturating_sub(each.max(2) * copies);
            threads.push(Thread { replicated, copies, body });
        }
        if threads.len() == 1 && threads[0].copies == 1 {
            draw.replicated = None;
            let body = draw.block(3, 0);
            threads.push(Thread { replicated: false, copies: 1, body });
        }
        Sketch { max_value, atomic, plain, threads }
    }
}

/// The size that is drawn.
const USUAL: Size = Size { least: 4, most: 8, in_thread: 4 };

/// The same with many SC accesses and fences.
#[derive(Clone, Debug)]
pub struct ScSketch(Sketch);

impl AsRef<Sketch> for Sketch {
    fn as_ref(&self) -> &Sketch {
        self
    }
}

impl AsRef<Sketch> for ScSketch {
    fn as_ref(&self) -> &Sketch {
        &self.0
    }
}

impl fmt::Display for ScSketch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Drawn for ScSketch {
    fn draw(seed: u64) -> ScSketch {
        ScSketch(Sketch::with(seed, USUAL, true))
    }

    fn smaller(&self) -> Vec<ScSketch> {
        self.0.smaller().into_iter().map(ScSketch).collect()
    }
}

/// The same with negative numbers, in a range that arithmetic may leave.
#[derive(Clone, Debug)]
pub struct ExactSketch(Sketch, i64);

impl fmt::Display for ExactSketch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let negative =
            self.0.to_string().replace(", 1", ", -1").replace("(1", "(-1").replace("== 1", "== -1");
        write!(f, "min_value {};\n{negative}", self.1)
    }
}

impl Drawn for ExactSketch {
    fn draw(seed: u64) -> ExactSketch {
        ExactSketch(Sketch::of_size(seed, USUAL), if seed.is_multiple_of(2) { -1 } else { -3 })
    }

    fn smaller(&self) -> Vec<ExactSketch> {
        self.0.smaller().into_iter().map(|smaller| ExactSketch(smaller, self.1)).collect()
    }
}

impl Drawn for Sketch {
    fn draw(seed: u64) -> Sketch {
        Sketch::of_size(seed, USUAL)
    }

    fn smaller(&self) -> Vec<Sketch> {
        let mut found = Vec::new();
        for thread in 0..self.threads.len() {
            if self.threads.len() > 1 {
                let mut program = self.clone();
                program.threads.remove(thread);
                found.push(program);
            }
            if self.threads[thread].copies > 1 {
                let mut program = self.clone();
                program.threads[thread].copies -= 1;
                found.push(program);
            }
            for body in smaller_blocks(&self.threads[thread].body) {
                let mut program = self.clone();
                program.threads[thread].body = body;
                found.push(program);
            }
        }
        found
    }
}

fn smaller_blocks(block: &Block) -> Vec<Block> {
    let mut found = Vec::new();
    for (place, stmt) in block.iter().enumerate() {
        let with = |new: &[Stmt]| [&block[..place], new, &block[place + 1..]].concat();
        found.push(with(&[]));
        match stmt {
            Stmt::Access(_) | Stmt::Local(_) => {}
            Stmt::If(condition, then, otherwise) => {
                found.extend([with(then), with(otherwise)]);
                let condition = || condition.clone();
                for b in smaller_blocks(then) {
                    found.push(with(&[Stmt::If(condition(), b, otherwise.clone())]));
                }
                for b in smaller_blocks(otherwise) {
                    found.push(with(&[Stmt::If(condition(), then.clone(), b)]));
                }
            }
            Stmt::OneOf(a, b) => {
                found.extend([with(a), with(b)]);
                found.extend(smaller_blocks(a).into_iter().map(|a| with(&[Stmt::OneOf(a, b.clone())])));
                found.extend(smaller_blocks(b).into_iter().map(|b| with(&[Stmt::OneOf(a.clone(), b)])));
            }
            Stmt::Loop(condition, body) => {
                found.push(with(body));
                found.extend(smaller_blocks(body).into_iter().map(|b| with(&[Stmt::Loop(condition, b)])));
            }
        }
    }
    found
}

struct Draw {
    max_value: u32,
    atomic: usize,
    plain: bool,
    random: Random,
    /// The name of the thread, where it stands for the number of the instance.
    replicated: Option<String>,
    mostly_sc: bool,
}

impl Draw {
    /// A block that makes about this many accesses.
    fn block(&mut self, mut accesses: usize, depth: usize) -> Block {
        let mut block = Vec::new();
        while accesses > 0 {
            let pick = self.random.below(24);
            let part = 1 + self.random.below(accesses.min(3));
            match pick {
                0 | 1 if depth < 2 => {
                    let otherwise = if self.random.one_in(2) { self.block(part, depth + 1) } else { vec![] };
                    block.push(Stmt::If(self.condition(), self.block(part, depth + 1), otherwise));
                    accesses -= part;
                }
                2 if depth < 2 => {
                    block.push(Stmt::OneOf(self.block(part, depth + 1), self.block(part, depth + 1)));
                    accesses -= part;
                }
                3 if depth == 0 && accesses > 1 => {
                    let condition = ["1", "1", "r == 0", "r != s"][self.random.below(4)];
                    let body = self.block((accesses / 2).min(2), 2);
                    accesses -= 2 * (accesses / 2).min(2);
                    block.push(Stmt::Loop(condition, body));
                }
                4 | 5 => block.push(Stmt::Local(self.local())),
                _ => {
                    block.push(Stmt::Access(self.access()));
                    accesses -= 1;
                }
            }
        }
        block
    }

    /// Accesses to two locations, in opposite order for the two sides, mostly a store before a load, and a few more
    /// before or between: without such crossings few programs are not robust.
    fn crossing(&mut self, side: usize, more: usize) -> Block {
        let (x, y) = (NAMES[side], NAMES[1 - side]);
        let [load, _] = self.modes();
        let [_, store] = self.modes();
        let (first, second) = (self.expression(), ["r", "s"][self.random.below(2)]);
        let mut one = Stmt::Access(format!("{x}.store({first}, {store});"));
        let mut other = Stmt::Access(format!("{second} = {y}.load({load});"));
        if self.random.one_in(3) {
            one = Stmt::Access(self.access_to(x));
        }
        if self.random.one_in(3) {
            other = Stmt::Access(self.access_to(y));
        }
        let mut block = self.block(more, 1);
        let place = self.random.below(block.len() + 1);
        block.insert(place, one);
        match self.random.below(8) {
            0 => block.push(Stmt::OneOf(vec![other], self.block(1, 2))),
            1 => block.push(Stmt::If(self.condition(), self.block(1, 2), vec![other])),
            2 => block.push(Stmt::Loop("1", vec![other])),
            _ => block.push(other),
        }
        block
    }

    fn local(&mut self) -> String {
        match self.random.below(10) {
            0 => format!("assume({});", self.condition()),
            1 => format!("assert({} || r != {});", self.condition(), self.value()),
            2 => format!("assert(s != {});", self.expression()),
            _ => format!("s = {};", self.expression()),
        }
    }

    fn condition(&mut self) -> String {
        match self.random.below(4) {
            0 => "r".to_owned(),
            1 => format!("r == {}", self.expression()),
            2 => format!("s != {}", self.value()),
            _ => format!("r < s + {}", self.value()),
        }
    }

    fn value(&mut self) -> usize {
        self.random.below(self.max_value as usize + 1)
    }

    fn expression(&mut self) -> String {
        match self.random.below(12) {
            0..=6 => self.value().to_string(),
            7 => "r".to_owned(),
            8 => "s".to_owned(),
            9 => "r + 1".to_owned(),
            10 => "r + s".to_owned(),
            _ => self.replicated.clone().unwrap_or_else(|| "1".to_owned()),
        }
    }

    fn access(&mut self) -> String {
        let place = self.random.below(2 * self.atomic + usize::from(self.plain));
        let reg = if self.random.one_in(3) { "s" } else { "r" };
        if place >= 2 * self.atomic {
            let value = self.expression();
            let load = self.random.one_in(2);
            return if load {
                format!("{reg} = {PLAIN}.naload();")
            } else {
                format!("{PLAIN}.nastore({value});")
            };
        }
        self.access_to(NAMES[place / 2])
    }

    fn access_to(&mut self, x: &str) -> String {
        let reg = if self.random.one_in(3) { "s" } else { "r" };
        let [load, store] = self.modes();
        let (e, v) = (self.expression(), self.expression());
        match self.random.below(20) {
            0..=5 => format!("{reg} = {x}.load({load});"),
            6..=11 => format!("{x}.store({v}, {store});"),
            12 => format!("wait({x}, {v}, {load});"),
            13 => format!("{reg} = wait({x}, {e}, {v}, {load});"),
            14 => format!("{reg} = FADD({x}, {v}, {load}, {store});"),
            15 => format!("{reg} = exchange({x}, {v}, {load}, {store});"),
            16 => format!("{reg} = CAS({x}, {e}, {v}, {load}, {store}{});", self.failure()),
            17 => format!("{reg} = WCAS({x}, {e}, {v}, {load}, {store}{});", self.failure()),
            18 => format!("BCAS({x}, {e}, {v}, {load}, {store});"),
            _ => ["fence;", "fence(acq);", "fence(rel);", "fence(acq_rel);"][self.random.below(4)].to_owned(),
        }
    }

    /// The order of a compare-and-swap that fails.
    fn failure(&mut self) -> &'static str {
        if self.mostly_sc { ["", ", rlx", ", acq", ", sc"][self.random.below(4)] } else { "" }
    }

    fn modes(&mut self) -> [&'static str; 2] {
        if self.mostly_sc && self.random.one_in(2) {
            return [["sc", "sc"], ["sc", "sc"], ["sc", "rel"], ["acq", "sc"]][self.random.below(4)];
        }
        match self.random.below(16) {
            0 => ["sc", "sc"],
            1..=7 => ["rlx", "rlx"],
            8..=12 => ["acq", "rel"],
            13 => ["acq", "rlx"],
            _ => ["rlx", "rel"],
        }
    }
}

impl fmt::Display for Sketch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.print(false))
    }
}

impl Sketch {
    /// The program with its loops written out.
    pub fn unrolled(&self) -> String {
        self.print(true)
    }

    fn print(&self, unrolled: bool) -> String {
        let mut out = String::new();
        let _ = writeln!(out, "max_value {};\nglobal {};", self.max_value, NAMES[..self.atomic].join(", "));
        if self.plain {
            let _ = writeln!(out, "na {PLAIN};");
        }
        for (number, Thread { replicated, copies, body }) in self.threads.iter().enumerate() {
            let count = if *replicated { format!("[{copies}]") } else { String::new() };
            let _ = writeln!(out, "\nfn t{number}{count} {{\n    local r, s, i;");
            print_block(&mut out, body, 1, unrolled);
            let _ = writeln!(out, "}}");
        }
        out
    }
}

fn print_block(out: &mut String, block: &Block, depth: usize, unrolled: bool) {
    let indent = "    ".repeat(depth);
    let mut line = |text: &str| {
        let _ = writeln!(out, "{indent}{text}");
    };
    let inner = |block: &Block| {
        let mut text = String::new();
        print_block(&mut text, block, depth + 1, unrolled);
        text.trim_end().to_owned()
    };
    for stmt in block {
        match stmt {
            Stmt::Access(text) | Stmt::Local(text) => line(text),
            Stmt::If(condition, then, otherwise) => {
                line(&format!("if ({condition}) {{\n{}\n{indent}}} else {{", inner(then)));
                line(&format!("{}\n{indent}}}", inner(otherwise).trim_start()));
            }
            Stmt::OneOf(a, b) => {
                line(&format!("oneof ({{\n{}\n{indent}}} {{\n{}\n{indent}}});", inner(a), inner(b)));
            }
            Stmt::Loop(condition, body) if unrolled => {
                let body = inner(body);
                line(&format!("if ({condition}) {{\n{body}"));
                line(&format!("    if ({condition}) {{\n{body}\n{indent}    }}\n{indent}}}"));
            }
            Stmt::Loop(condition, body) => {
                line("i = 0;");
                line(&format!("while (i < 2 && ({condition})) {{\n{}", inner(body)));
                line("    i = i + 1;");
                line("}");
            }
        }
    }
}
