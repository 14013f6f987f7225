//! Random expressions over numbers of all types, with a reckoning of what C leaves undefined (and of nothing else that is looked at).
#![allow(dead_code, reason = "not every test uses everything")]

/// An integer type: how it is written, bits, signed?
pub type Ty = (&'static str, u32, bool);

pub const TYPES: [Ty; 9] = [
    ("_Bool", 1, false),
    ("signed char", 8, true),
    ("unsigned char", 8, false),
    ("short", 16, true),
    ("unsigned short", 16, false),
    ("int", 32, true),
    ("unsigned", 32, false),
    ("long", 64, true),
    ("unsigned long", 64, false),
];

const INT: Ty = TYPES[5];

const LITERALS: [(&str, i128, Ty); 20] = [
    ("0", 0, INT),
    ("1", 1, INT),
    ("2", 2, INT),
    ("3", 3, INT),
    ("7", 7, INT),
    ("'a'", 97, INT),
    ("31", 31, INT),
    ("0377", 255, INT),
    ("0x7fffffff", 0x7fff_ffff, INT),
    ("0x80000000", 0x8000_0000, TYPES[6]),
    ("2147483648", 0x8000_0000, TYPES[7]),
    ("0xffffffff", 0xffff_ffff, TYPES[6]),
    ("4294967296", 1 << 32, TYPES[7]),
    ("1u", 1, TYPES[6]),
    ("5u", 5, TYPES[6]),
    ("3l", 3, TYPES[7]),
    ("1ul", 1, TYPES[8]),
    ("sizeof(int)", 4, TYPES[8]),
    ("0xffffffffffffffff", (1 << 64) - 1, TYPES[8]),
    ("18446744073709551614ul", (1 << 64) - 2, TYPES[8]),
];

pub enum Ast {
    Variable(usize),
    Literal(usize),
    Cast(Ty, Box<Ast>),
    Unary(char, Box<Ast>),
    Binary(&'static str, Box<Ast>, Box<Ast>),
    Choice(Box<Ast>, Box<Ast>, Box<Ast>),
}

/// An expression with the types of its variables a, b, c.
pub struct Sample {
    pub types: [Ty; 3],
    pub ast: Ast,
}

pub struct Dice(pub u64);

impl Dice {
    pub fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % sides
    }

    pub fn sample(&mut self) -> Sample {
        let types = [0; 3].map(|_| TYPES[self.roll(TYPES.len())]);
        Sample { types, ast: self.ast(3) }
    }

    fn ast(&mut self, depth: usize) -> Ast {
        let leaf = depth == 0 || self.roll(6) == 0;
        if leaf {
            return if self.roll(3) > 0 { Ast::Variable(self.roll(3)) } else { Ast::Literal(self.roll(20)) };
        }
        let part = |dice: &mut Dice| Box::new(dice.ast(depth - 1));
        match self.roll(12) {
            0 | 1 => Ast::Cast(TYPES[self.roll(TYPES.len())], part(self)),
            2 => Ast::Unary(['-', '~', '!', '+'][self.roll(4)], part(self)),
            3 => Ast::Choice(part(self), part(self), part(self)),
            _ => {
                const ALL: [&str; 18] = [
                    "+", "-", "*", "+", "-", "/", "%", "&", "|", "^", "<<", ">>", "==", "!=", "<", ">=",
                    "&&", "||",
                ];
                Ast::Binary(ALL[self.roll(18)], part(self), part(self))
            }
        }
    }

    /// A number of a type, near its bounds more often than not.
    pub fn number(&mut self, (_, bits, signed): Ty) -> i128 {
        let modulus = 1i128 << bits;
        let any = self.0 as i128;
        let value = match self.roll(8) {
            0 => 0,
            1 => 1,
            2 => modulus - 1,
            3 => modulus / 2,
            4 => modulus / 2 - 1,
            5 => (self.roll(9) as i128) - 4,
            6 => self.roll(300) as i128,
            _ => any,
        };
        wrap(value, (bits, signed))
    }
}

fn wrap(value: i128, (bits, signed): (u32, bool)) -> i128 {
    let low = value & ((1 << bits) - 1);
    if signed && low >> (bits - 1) == 1 { low - (1 << bits) } else { low }
}

impl Ast {
    pub fn text(&self) -> String {
        match self {
            Ast::Variable(k) => ["a", "b", "c"][*k].to_owned(),
            Ast::Literal(k) => LITERALS[*k].0.to_owned(),
            Ast::Cast((ty, ..), e) => format!("({ty})({})", e.text()),
            Ast::Unary(op, e) => format!("{op}({})", e.text()),
            Ast::Binary(op, a, b) => format!("(({}) {op} ({}))", a.text(), b.text()),
            Ast::Choice(c, a, b) => format!("(({}) ? ({}) : ({}))", c.text(), a.text(), b.text()),
        }
    }
}

fn promoted(ty: Ty) -> Ty {
    if ty.1 < 32 { INT } else { ty }
}

fn common(a: Ty, b: Ty) -> Ty {
    let (a, b) = (promoted(a), promoted(b));
    // The wider one; of two equal ones the unsigned one.
    if (a.1, !a.2) >= (b.1, !b.2) { a } else { b }
}

impl Sample {
    /// Text for numbers as arguments.
    pub fn arguments(&self, values: &[i128; 3]) -> String {
        let shown = self.types.iter().zip(values).map(|((ty, ..), v)| match *v {
            v if v == i64::MIN.into() => format!("({ty})(-9223372036854775807l - 1)"),
            v if v < 0 => format!("({ty})({v}l)"),
            v => format!("({ty}){v}ul"),
        });
        shown.collect::<Vec<_>>().join(", ")
    }

    /// Does C define the expression for these values?
    pub fn is_defined(&self, values: &[i128; 3]) -> bool {
        self.reckon(&self.ast, values).is_some()
    }

    fn ty(&self, ast: &Ast) -> Ty {
        match ast {
            Ast::Variable(k) => self.types[*k],
            Ast::Literal(k) => LITERALS[*k].2,
            Ast::Cast(ty, _) => *ty,
            Ast::Unary('!', _) | Ast::Binary("==" | "!=" | "<" | ">=" | "&&" | "||", ..) => INT,
            Ast::Unary(_, e) | Ast::Binary("<<" | ">>", e, _) => promoted(self.ty(e)),
            Ast::Binary(_, a, b) | Ast::Choice(_, a, b) => common(self.ty(a), self.ty(b)),
        }
    }

    fn reckon(&self, ast: &Ast, of: &[i128; 3]) -> Option<i128> {
        let ty = self.ty(ast);
        let fits = |value: i128, ty: Ty| match wrap(value, (ty.1, ty.2)) {
            wrapped if wrapped == value || !ty.2 => Some(wrapped),
            _ => None,
        };
        let to = |e: &Ast, ty: Ty| {
            let value = self.reckon(e, of)?;
            Some(if ty.1 == 1 { (value != 0).into() } else { wrap(value, (ty.1, ty.2)) })
        };
        match ast {
            Ast::Variable(k) => Some(of[*k]),
            Ast::Literal(k) => Some(LITERALS[*k].1),
            Ast::Cast(ty, e) => to(e, *ty),
            Ast::Unary('!', e) => Some((self.reckon(e, of)? == 0).into()),
            Ast::Unary(op, e) => {
                let value = to(e, ty)?;
                fits(
                    match op {
                        '-' => -value,
                        '~' => !value,
                        _ => value,
                    },
                    ty,
                )
            }
            Ast::Choice(c, a, b) => {
                if self.reckon(c, of)? != 0 {
                    to(a, ty)
                } else {
                    to(b, ty)
                }
            }
            Ast::Binary("&&", a, b) => Some((self.reckon(a, of)? != 0 && self.reckon(b, of)? != 0).into()),
            Ast::Binary("||", a, b) => match self.reckon(a, of)? {
                0 => Some((self.reckon(b, of)? != 0).into()),
                _ => Some(1),
            },
            Ast::Binary(op @ ("<<" | ">>"), a, b) => {
                let (value, by) = (to(a, ty)?, self.reckon(b, of)?);
                let by = u32::try_from(by).ok().filter(|by| *by < ty.1)?;
                match *op {
                    "<<" if value >= 0 && !ty.2 => Some(wrap(value.wrapping_shl(by), (ty.1, false))),
                    "<<" if value >= 0 => fits(value << by, ty),
                    "<<" => None,
                    _ => Some(value >> by),
                }
            }
            Ast::Binary(op, a, b) => {
                let operands = common(self.ty(a), self.ty(b));
                let (a, b) = (to(a, operands)?, to(b, operands)?);
                let value = match *op {
                    "+" => a + b,
                    "-" => a - b,
                    "*" if operands.2 => a * b,
                    "*" => return Some(wrap(a.wrapping_mul(b), (operands.1, false))),
                    "/" => a.checked_div(b)?,
                    "%" if b == -1 => a.checked_div(b).filter(|q| fits(*q, operands).is_some()).map(|_| 0)?,
                    "%" => a.checked_rem(b)?,
                    "&" => a & b,
                    "|" => a | b,
                    "^" => a ^ b,
                    "==" => (a == b).into(),
                    "!=" => (a != b).into(),
                    "<" => (a < b).into(),
                    _ => (a >= b).into(),
                };
                fits(value, ty)
            }
        }
    }
}

/// Functions `f0`, `f1`, … that `make` makes of samples, one on each line from the first one on; those that `read` refuses (with a
/// line) are left out.
pub fn readable<T>(
    dice: &mut Dice,
    count: usize,
    head: &str,
    make: impl Fn(usize, &Sample) -> String,
    read: impl Fn(&str) -> Result<T, u32>,
) -> (Vec<Sample>, String, T) {
    let mut samples: Vec<Sample> = (0..count).map(|_| dice.sample()).collect();
    let lines = head.lines().count();
    loop {
        let functions: String = samples.iter().enumerate().map(|(k, s)| make(k, s) + "\n").collect();
        let text = format!("{head}{functions}");
        match read(&text) {
            Ok(library) => return (samples, text, library),
            // Something constant is not defined.
            Err(line) => drop(samples.remove(line as usize - 1 - lines)),
        }
    }
}
