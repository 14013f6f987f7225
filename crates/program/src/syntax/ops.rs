//! Operators: spelling and C's precedence, shared by the parsers and the printer.

use super::lexer::Tok;
use crate::code::{Binary, Unary};

/// Every binary operator with its spelling and precedence (higher binds tighter; all associate to the left).
const BINARY: [(&str, Binary, u8); 18] = [
    ("||", Binary::Or, 1),
    ("&&", Binary::And, 2),
    ("|", Binary::BitOr, 3),
    ("^", Binary::BitXor, 4),
    ("&", Binary::BitAnd, 5),
    ("==", Binary::Eq, 6),
    ("!=", Binary::Ne, 6),
    ("<", Binary::Lt, 7),
    ("<=", Binary::Le, 7),
    (">", Binary::Gt, 7),
    (">=", Binary::Ge, 7),
    ("<<", Binary::Shl, 8),
    (">>", Binary::Shr, 8),
    ("+", Binary::Add, 9),
    ("-", Binary::Sub, 9),
    ("*", Binary::Mul, 10),
    ("/", Binary::Div, 10),
    ("%", Binary::Rem, 10),
];

/// The precedence of unary operators: above every binary one.
pub(crate) const UNARY_PRECEDENCE: u8 = 11;

/// The binary operator that a token is, with its precedence.
pub(crate) fn binary_operator(tok: Tok) -> Option<(Binary, u8)> {
    let Tok::Punct(text) = tok else { return None };
    BINARY
        .iter()
        .find(|(symbol, ..)| *symbol == text)
        .map(|&(_, operator, precedence)| (operator, precedence))
}

/// The unary operator that a token is.
pub(crate) fn unary_operator(tok: Tok) -> Option<Unary> {
    match tok {
        Tok::Punct("!") => Some(Unary::Not),
        Tok::Punct("-") => Some(Unary::Neg),
        Tok::Punct("~") => Some(Unary::BitNot),
        _ => None,
    }
}

/// How a binary operator is written, and its precedence.
pub(crate) fn binary_symbol(operator: Binary) -> (&'static str, u8) {
    BINARY
        .iter()
        .find(|(_, candidate, _)| *candidate == operator)
        .map(|&(symbol, _, precedence)| (symbol, precedence))
        .expect("the table lists every operator")
}

/// How a unary operator is written.
pub(crate) fn unary_symbol(operator: Unary) -> &'static str {
    match operator {
        Unary::Not => "!",
        Unary::Neg => "-",
        Unary::BitNot => "~",
    }
}
