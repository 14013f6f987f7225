//! C's arithmetic on integers of all sizes (C11 6.3.1, 6.5): promotions, the usual conversions, where results wrap around.
//!
//! Expressions and constant expressions are both made here; what they compute is [`Expr::evaluate`]'s.

use super::fold;
use super::types::{Kind, Type};
use crate::code::{Expr, Integer, LocalId, Operator};

/// What fits into a variable.
pub type Room<'a> = &'a dyn Fn(LocalId) -> Integer;

/// Where there are no variables.
pub fn no_variables(_: LocalId) -> Integer {
    Integer::LONG
}

/// C's integer promotion.
pub fn promoted(ty: &Type) -> Type {
    match ty.kind {
        Kind::Bool | Kind::Int { bytes: 1 | 2, .. } => Type::int(),
        _ => ty.unqualified(),
    }
}

/// C's usual arithmetic conversions.
pub fn common(a: &Type, b: &Type) -> Type {
    let (a, b) = (promoted(a), promoted(b));
    match (&a.kind, &b.kind) {
        (Kind::Int { bytes: x, signed: s }, Kind::Int { bytes: y, signed: t }) => {
            let signed = match x.cmp(y) {
                std::cmp::Ordering::Less => *t,
                std::cmp::Ordering::Equal => *s && *t,
                std::cmp::Ordering::Greater => *s,
            };
            Type::plain(Kind::Int { bytes: *x.max(y), signed })
        }
        (Kind::Int { .. }, _) => b,
        _ => a,
    }
}

/// A value of type `from`, converted to type `to`.
pub fn convert(e: Expr, from: &Type, to: &Type, room: Room) -> Expr {
    let Some(target) = to.kind.integer() else { return e };
    let known = range(&e, room).within(from.kind.integer());
    match to.kind {
        Kind::Bool if known.fits(Integer::BOOL) => e,
        Kind::Bool => fold::truth(e),
        _ if known.fits(target) => e,
        _ => bits(&e, target, room).unwrap_or_else(|| fold::wrap(target, e)),
    }
}

/// `a & b` and the like in another type, whose bits are some of those that they have.
fn bits(e: &Expr, target: Integer, room: Room) -> Option<Expr> {
    let part = |e: &Expr| match e {
        Expr::Int(n) => Some(Expr::Int(target.wrap(*n))),
        Expr::Wrap(from, e) if from.bits >= target.bits && range(e, room).fits(target) => Some((**e).clone()),
        e => range(e, room).fits(target).then(|| e.clone()),
    };
    match e {
        Expr::Binary(op @ (Operator::And | Operator::Or | Operator::Xor), a, b) => {
            Some(fold::binary(*op, part(a)?, part(b)?))
        }
        _ => None,
    }
}

/// `a op b` on numbers; a message if it has no meaning.
pub fn binary(
    op: Operator,
    (a, left): (Expr, &Type),
    (b, right): (Expr, &Type),
    room: Room,
) -> Result<(Expr, Type), &'static str> {
    let is_shift = matches!(op, Operator::Shl | Operator::Shr);
    let ty = if is_shift { promoted(left) } else { common(left, right) };
    let Some(integer) = ty.kind.integer() else { return Err("this has no value") };
    let a = convert(a, left, &ty, room);
    let b = if is_shift { b } else { convert(b, right, &ty, room) };
    match (op, &b) {
        (Operator::Div | Operator::Rem, Expr::Int(0)) => return Err("division by 0"),
        (Operator::Shl | Operator::Shr, Expr::Int(by)) if !(0..i128::from(integer.bits)).contains(by) => {
            return Err("the number of bits to shift by must be less than those of the number");
        }
        _ => {}
    }
    if op.is_truth() {
        return Ok((fold::binary(op, a, b), Type::int()));
    }
    Ok((result(integer, fold::binary(op, a, b), room)?, ty))
}

/// `-e`.
pub fn minus(e: Expr, ty: &Type, room: Room) -> Result<(Expr, Type), &'static str> {
    binary(Operator::Sub, (Expr::Int(0), &Type::int()), (e, ty), room)
}

/// `~e`.
pub fn complement(e: Expr, from: &Type, room: Room) -> Result<(Expr, Type), &'static str> {
    let ty = promoted(from);
    let Some(integer) = ty.kind.integer() else { return Err("this has no value") };
    let ones = if integer.signed { -1 } else { integer.greatest() };
    Ok((fold::binary(Operator::Sub, Expr::Int(ones), convert(e, from, &ty, room)), ty))
}

/// What C must not be asked: 0 if `a op b` has no meaning for the values at hand; none if it always has one (overflow is another
/// matter).
pub fn is_defined(
    op: Operator,
    (a, left): (&Expr, &Type),
    (b, right): (&Expr, &Type),
    room: Room,
) -> Option<Expr> {
    let known = range(b, room).within(right.kind.integer());
    match op {
        Operator::Shl | Operator::Shr => {
            let bits = i128::from(promoted(left).kind.integer()?.bits);
            let low = fold::binary(Operator::LessEqual, Expr::Int(0), b.clone());
            let high = fold::binary(Operator::Less, b.clone(), Expr::Int(bits));
            let all = fold::binary(Operator::Both, low, high);
            (known.low < 0 || known.high >= bits).then_some(all)
        }
        Operator::Div | Operator::Rem if known.low <= 0 && known.high >= 0 => {
            Some(fold::binary(Operator::NotEqual, b.clone(), Expr::Int(0)))
        }
        Operator::Div | Operator::Rem if known.low < 0 => {
            // Its negative least number has no opposite.
            let least = common(left, right).kind.integer()?.least();
            let is_least = fold::binary(Operator::Equal, a.clone(), Expr::Int(least));
            let is_negated = fold::binary(Operator::Equal, b.clone(), Expr::Int(-1));
            match fold::not(fold::binary(Operator::Both, is_least, is_negated)) {
                Expr::Int(_) => None,
                condition => Some(condition),
            }
        }
        _ => None,
    }
}

/// The result of an operation in a type: unsigned ones wrap around, signed ones don't overflow.
fn result(integer: Integer, e: Expr, room: Room) -> Result<Expr, &'static str> {
    if range(&e, room).fits(integer) {
        return Ok(e);
    }
    match (integer.signed, &e) {
        (false, _) => Ok(match e {
            Expr::Binary(op, a, b) => match (*a, *b) {
                // Too large for an intermediate result, not for what is left of it.
                (Expr::Int(a), Expr::Int(b)) if integer.compute(op, a, b).is_some() => {
                    Expr::Int(integer.compute(op, a, b).unwrap_or_default())
                }
                (a, b) => fold::wrap(integer, Expr::Binary(op, Box::new(a), Box::new(b))),
            },
            e => fold::wrap(integer, e),
        }),
        (true, Expr::Int(_)) => {
            Err("this constant overflows its type, which C leaves undefined: use an unsigned type")
        }
        (true, _) => Ok(e),
    }
}

/// Numbers that a value can be.
#[derive(Clone, Copy)]
struct Range {
    low: i128,
    high: i128,
}

impl Range {
    const ALL: Range = Range { low: i128::MIN, high: i128::MAX };

    fn of(integer: Integer) -> Range {
        Range { low: integer.least(), high: integer.greatest() }
    }

    fn fits(self, integer: Integer) -> bool {
        self.low >= integer.least() && self.high <= integer.greatest()
    }

    fn within(self, integer: Option<Integer>) -> Range {
        integer.map_or(self, |i| Range { low: self.low.max(i.least()), high: self.high.min(i.greatest()) })
    }
}

/// What is known of a value by its form and its variables.
fn range(e: &Expr, room: Room) -> Range {
    match e {
        Expr::Int(n) => Range { low: *n, high: *n },
        Expr::Local(local) => Range::of(room(*local)),
        Expr::Not(_) => Range::of(Integer::BOOL),
        Expr::Wrap(to, _) => Range::of(*to),
        Expr::Binary(op, ..) if op.is_truth() => Range::of(Integer::BOOL),
        Expr::Binary(op, a, b) => {
            let (a, b) = (range(a, room), range(b, room));
            let corners = |f: &dyn Fn(i128, i128) -> Option<i128>| {
                let all = [(a.low, b.low), (a.low, b.high), (a.high, b.low), (a.high, b.high)];
                let all: Option<Vec<i128>> = all.into_iter().map(|(a, b)| f(a, b)).collect();
                let all = all?;
                Some(Range { low: *all.iter().min()?, high: *all.iter().max()? })
            };
            let are_positive = a.low >= 0 && b.low >= 0;
            match op {
                Operator::Add | Operator::Sub | Operator::Mul => corners(&|a, b| op.compute(a, b)),
                Operator::Shl | Operator::Shr if b.low >= 0 && b.high < 64 => {
                    corners(&|a, b| op.compute(a, b))
                }
                Operator::And if a.low >= 0 || b.low >= 0 => {
                    let of = |r: Range| if r.low >= 0 { r.high } else { i128::MAX };
                    Some(Range { low: 0, high: of(a).min(of(b)) })
                }
                Operator::Or | Operator::Xor if are_positive && a.high.max(b.high) < 1 << 64 => {
                    let ones = (a.high.max(b.high) + 1).unsigned_abs().next_power_of_two() as i128 - 1;
                    Some(Range { low: 0, high: ones })
                }
                Operator::Div if are_positive && b.low > 0 => Some(Range { low: 0, high: a.high }),
                Operator::Rem if b.low > 0 => {
                    let most = b.high - 1;
                    Some(Range { low: if a.low >= 0 { 0 } else { -most }, high: most })
                }
                _ => None,
            }
            .unwrap_or(Range::ALL)
        }
    }
}
