//! Builds expressions, computing what is constant.

use crate::code::{Expr, Integer, Operator};

/// `a op b`.
pub fn binary(op: Operator, a: Expr, b: Expr) -> Expr {
    if let (Expr::Int(x), Expr::Int(y)) = (&a, &b)
        && let Some(value) = op.compute(*x, *y)
    {
        return Expr::Int(value);
    }
    match (op, &a, &b) {
        (Operator::Add | Operator::Sub | Operator::Or | Operator::Xor, _, Expr::Int(0)) => a,
        (Operator::Shl | Operator::Shr, _, Expr::Int(0)) => a,
        (Operator::Add | Operator::Or | Operator::Xor, Expr::Int(0), _) => b,
        (Operator::Mul | Operator::Div, _, Expr::Int(1)) => a,
        (Operator::Mul, Expr::Int(1), _) => b,
        (Operator::NotEqual, _, Expr::Int(0)) if is_truth(&a) => a,
        (Operator::Equal, _, Expr::Int(0)) if is_truth(&a) => not(a),
        // A mask of lower bits sees no difference.
        (Operator::And, Expr::Wrap(to, e), Expr::Int(mask)) if (0..to.modulus()).contains(mask) => {
            binary(op, (**e).clone(), b)
        }
        (Operator::And, Expr::Int(mask), Expr::Wrap(to, e)) if (0..to.modulus()).contains(mask) => {
            binary(op, a, (**e).clone())
        }
        (Operator::Both, Expr::Int(0), _) | (Operator::Either, Expr::Int(1..), _) => {
            Expr::Int((op == Operator::Either).into())
        }
        (Operator::Both, Expr::Int(_), _) | (Operator::Either, Expr::Int(0), _) => truth(b),
        _ => Expr::Binary(op, Box::new(a), Box::new(b)),
    }
}

/// `!e`.
pub fn not(e: Expr) -> Expr {
    match e {
        Expr::Int(n) => Expr::Int((n == 0).into()),
        Expr::Not(inner) => truth(*inner),
        Expr::Binary(Operator::Equal, a, b) => Expr::Binary(Operator::NotEqual, a, b),
        Expr::Binary(Operator::NotEqual, a, b) => Expr::Binary(Operator::Equal, a, b),
        Expr::Binary(Operator::Less, a, b) => Expr::Binary(Operator::LessEqual, b, a),
        Expr::Binary(Operator::LessEqual, a, b) => Expr::Binary(Operator::Less, b, a),
        e => Expr::Not(Box::new(e)),
    }
}

/// `e != 0`, as 0 or 1.
pub fn truth(e: Expr) -> Expr {
    match e {
        Expr::Int(n) => Expr::Int((n != 0).into()),
        e if is_truth(&e) => e,
        e => Expr::Binary(Operator::NotEqual, Box::new(e), Box::new(Expr::Int(0))),
    }
}

/// What is 0 exactly if `e` is: shorter.
pub fn test(e: Expr) -> Expr {
    match e {
        Expr::Binary(Operator::NotEqual, a, b) if *b == Expr::Int(0) => *a,
        e => e,
    }
}

/// `e`, converted to a type in whose range it need not be.
pub fn wrap(to: Integer, e: Expr) -> Expr {
    match e {
        Expr::Int(n) => Expr::Int(to.wrap(n)),
        // What is cut off twice could as well be cut off once.
        Expr::Wrap(inner, e) if inner.bits >= to.bits => wrap(to, *e),
        e => Expr::Wrap(to, Box::new(e)),
    }
}

/// Is the value 0 or 1 by its form?
pub fn is_truth(e: &Expr) -> bool {
    match e {
        Expr::Int(n) => matches!(n, 0 | 1),
        Expr::Local(_) => false,
        Expr::Not(_) => true,
        Expr::Wrap(to, _) => *to == Integer::BOOL,
        Expr::Binary(op, ..) => op.is_truth(),
    }
}
