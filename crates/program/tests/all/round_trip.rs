//! Printing and parsing again gives an equal tree, for random trees that use the whole language.

use proptest::prelude::*;
use seqcst_model::{Mode, Model};
use seqcst_program::ast::{
    Access, At, Block, Cas, CasKind, Expr, ExprKind, Location, Name, Program, RmwMode, Span, StmtKind,
    Thread, Track,
};
use seqcst_program::code::{Binary, Unary};
use seqcst_program::{check, lower, parse, print};

fn at<T>(node: T) -> At<T> {
    At::new(node, Span::default())
}

fn name(choices: &'static [&'static str]) -> impl Strategy<Value = Name> {
    prop::sample::select(choices).prop_map(|name| at(name.to_string()))
}

fn atomic() -> impl Strategy<Value = Name> {
    name(&["x", "y"])
}

fn register() -> impl Strategy<Value = Name> {
    name(&["a", "b", "load", "all"])
}

fn expr() -> impl Strategy<Value = Expr> {
    let unary = prop::sample::select(&[Unary::Not, Unary::Neg, Unary::BitNot][..]);
    let binary = prop::sample::select(
        &[
            Binary::Add,
            Binary::Sub,
            Binary::Mul,
            Binary::Div,
            Binary::Rem,
            Binary::Lt,
            Binary::Le,
            Binary::Gt,
            Binary::Ge,
            Binary::Eq,
            Binary::Ne,
            Binary::And,
            Binary::Or,
            Binary::BitAnd,
            Binary::BitOr,
            Binary::BitXor,
            Binary::Shl,
            Binary::Shr,
        ][..],
    );
    let leaf = prop_oneof![
        (0..12u32).prop_map(ExprKind::Number),
        any::<bool>().prop_map(ExprKind::Bool),
        register().prop_map(|register| ExprKind::Name(register.node)),
        Just(ExprKind::Name("t".to_string())),
    ];
    leaf.prop_map(at).prop_recursive(4, 16, 2, move |inner| {
        prop_oneof![
            (unary.clone(), inner.clone())
                .prop_map(|(operator, e)| at(ExprKind::Unary(operator, Box::new(e)))),
            (binary.clone(), inner.clone(), inner).prop_map(|(operator, l, r)| at(ExprKind::Binary(
                operator,
                Box::new(l),
                Box::new(r)
            ))),
        ]
    })
}

fn mode(choices: &'static [Mode]) -> impl Strategy<Value = At<Mode>> {
    prop::sample::select(choices).prop_map(at)
}

const READ: &[Mode] = &[Mode::Relaxed, Mode::Acquire, Mode::SeqCst];
const WRITE: &[Mode] = &[Mode::Relaxed, Mode::Release, Mode::SeqCst];
const FENCE: &[Mode] = &[Mode::Acquire, Mode::Release, Mode::AcqRel, Mode::SeqCst];
const ANY: &[Mode] = &[Mode::Relaxed, Mode::Acquire, Mode::Release, Mode::AcqRel, Mode::SeqCst];

fn rmw_mode() -> impl Strategy<Value = RmwMode> {
    prop_oneof![
        Just(RmwMode::Unwritten),
        mode(ANY).prop_map(RmwMode::Whole),
        (mode(READ), mode(WRITE)).prop_map(|(read, write)| RmwMode::Halves(read, write)),
    ]
}

fn cas() -> impl Strategy<Value = Access> {
    let kind =
        prop::sample::select(&[CasKind::Strong, CasKind::Weak, CasKind::Blocking, CasKind::Failing][..]);
    let operands = (atomic(), expr(), expr(), rmw_mode(), prop::option::of(mode(READ)));
    (kind, operands).prop_map(|(kind, (location, expected, new, mode, failure))| {
        let may_differ = kind != CasKind::Blocking && matches!(mode, RmwMode::Halves(..));
        let failure = failure.filter(|_| may_differ);
        Access::Cas(kind, Box::new(Cas { location, expected, new, mode, failure }))
    })
}

fn access_with_result() -> impl Strategy<Value = Access> {
    let values = prop::collection::vec(expr(), 1..3);
    prop_oneof![
        (atomic(), prop::option::of(mode(READ))).prop_map(|(x, m)| Access::Load(x, m)),
        name(&["d"]).prop_map(Access::NaLoad),
        (atomic(), values, prop::option::of(mode(READ))).prop_map(|(x, v, m)| Access::Wait(x, v, m)),
        (atomic(), expr(), rmw_mode()).prop_map(|(x, e, m)| Access::FetchAdd(x, e, m)),
        (atomic(), expr(), rmw_mode()).prop_map(|(x, e, m)| Access::Exchange(x, e, m)),
        cas(),
    ]
}

fn access_without_result() -> impl Strategy<Value = Access> {
    prop_oneof![
        (atomic(), expr(), prop::option::of(mode(WRITE))).prop_map(|(x, e, m)| Access::Store(x, e, m)),
        (name(&["d"]), expr()).prop_map(|(x, e)| Access::NaStore(x, e)),
        atomic().prop_map(Access::Lock),
        atomic().prop_map(Access::Unlock),
        mode(FENCE).prop_map(Access::Fence),
    ]
}

fn block() -> impl Strategy<Value = Block> {
    let simple = prop_oneof![
        name(&["first", "second"]).prop_map(StmtKind::Goto),
        (register(), expr()).prop_map(|(r, e)| StmtKind::Assign(r, e)),
        (prop::option::of(register()), access_with_result()).prop_map(|(r, a)| StmtKind::Access(r, a)),
        access_without_result().prop_map(|a| StmtKind::Access(None, a)),
        expr().prop_map(StmtKind::Assert),
        expr().prop_map(StmtKind::Assume),
        expr().prop_map(StmtKind::Verify),
        Just(StmtKind::Skip),
    ];
    let stmt = simple.prop_map(at).prop_recursive(3, 16, 3, |stmt| {
        let block = prop::collection::vec(stmt, 0..3);
        prop_oneof![
            (expr(), block.clone(), block.clone()).prop_map(|(e, t, o)| at(StmtKind::If(e, t, o))),
            (expr(), block.clone()).prop_map(|(e, b)| at(StmtKind::While(e, b))),
            prop::collection::vec(block, 1..4).prop_map(|branches| at(StmtKind::OneOf(branches))),
        ]
    });
    prop::collection::vec(stmt, 0..5)
}

/// A replicated thread `t` that has both labels.
fn thread() -> impl Strategy<Value = Thread> {
    (1..5u32, block(), block()).prop_map(|(count, first, second)| {
        let label = |name: &str| at(StmtKind::Label(at(name.to_string())));
        let locals = ["a", "b", "load", "all"].map(|name| at(name.to_string()));
        let body = first.into_iter().chain([label("first")]).chain(second).chain([label("second")]);
        Thread {
            name: at("t".to_string()),
            count: Some(at(count)),
            locals: locals.to_vec(),
            body: body.collect(),
        }
    })
}

fn program() -> impl Strategy<Value = Program> {
    let min_value = prop::option::of((-9..=0i64).prop_map(at));
    let max_value = prop::option::of((9..300u32).prop_map(at));
    let initial = || prop::option::of((0..10i64).prop_map(at));
    let order = Just(vec![("x", false), ("y", false), ("d", true)]).prop_shuffle();
    let locations = (order, initial()).prop_map(|(order, initial)| {
        let location = |(name, non_atomic): (&str, bool)| Location {
            name: at(name.to_string()),
            initial: initial.clone(),
            non_atomic,
        };
        order.into_iter().map(location).collect::<Vec<_>>()
    });
    let values = prop::option::of(prop::collection::vec((0..10i64).prop_map(at), 1..3));
    let track = (atomic(), values).prop_map(|(location, values)| Track { location, values });
    (min_value, max_value, locations, prop::collection::vec(track, 0..3), thread()).prop_map(
        |(min_value, max_value, locations, tracks, thread)| Program {
            // Beside a smallest value, a constant over the largest one is an error.
            max_value: max_value.map(|max| if min_value.is_some() { at(max.node.max(11)) } else { max }),
            min_value,
            locations,
            tracks,
            threads: vec![thread],
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn printed_programs_parse_to_themselves(program in program()) {
        check(&program).expect("the generator makes correct programs");
        let printed = print(&program);
        let parsed = parse(printed.as_bytes(), "").unwrap_or_else(|error| {
            let (line, column) = error.line_column(printed.as_bytes());
            panic!("{line}:{column}: {error}\n{printed}")
        });
        prop_assert_eq!(&parsed.program, &program);
        for model in Model::WATCHED {
            let code = |program| without_spans(lower(program, model).expect("programs are checked against this model"));
            prop_assert_eq!(code(&program), code(&parsed.program));
        }
    }
}

fn without_spans(mut code: seqcst_program::code::Code) -> seqcst_program::code::Code {
    code.sites.iter_mut().for_each(|site| site.span = 0..0);
    code
}
