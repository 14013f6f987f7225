//! What each construct becomes, for each memory model.

use expect_test::{Expect, expect};
use seqcst_model::Model;
use seqcst_program::code::{Access, AccessKind, Code, Expr, Instr, Thread};
use seqcst_program::{lower, parse};
use std::fmt::Write;

fn compile(source: &str, model: Model) -> Code {
    lower(&parse(source.as_bytes(), "").expect("a correct program").program, model)
        .expect("programs are checked against this model")
}

fn show_expr(expr: &Expr, thread: &Thread) -> String {
    match expr {
        Expr::Const(value) => value.to_string(),
        Expr::Reg(register) => thread.regs[usize::from(*register)].clone(),
        Expr::Unary(operator, operand) => format!("{operator:?}({})", show_expr(operand, thread)),
        Expr::Binary(operator, left, right) => {
            format!("{operator:?}({}, {})", show_expr(left, thread), show_expr(right, thread))
        }
    }
}

fn show_access(access: &Access, thread: &Thread, code: &Code) -> String {
    let expr = |e: &Expr| show_expr(e, thread);
    let dest = access.dest.map_or(String::new(), |r| format!("{} = ", thread.regs[usize::from(r)]));
    let (word, operands) = match &access.kind {
        AccessKind::Fence => return format!("fence {}", access.mode),
        AccessKind::Load => ("load", vec![]),
        AccessKind::Wait(values) => ("wait", values.iter().map(expr).collect()),
        AccessKind::Store(value) => ("store", vec![expr(value)]),
        AccessKind::FetchAdd(operand) => ("fetch_add", vec![expr(operand)]),
        AccessKind::Exchange(value) => ("exchange", vec![expr(value)]),
        AccessKind::Cas { expected, new } => ("cas", vec![expr(expected), expr(new)]),
        AccessKind::WeakCas { expected, new } => ("weak_cas", vec![expr(expected), expr(new)]),
        AccessKind::BlockingCas { expected, new } => ("blocking_cas", vec![expr(expected), expr(new)]),
    };
    let location = &code.locations[access.loc.index()].name;
    format!("{dest}{word} {location}({}) {}", operands.join(", "), access.mode)
}

fn show_thread(thread: &Thread, code: &Code) -> String {
    let mut text = format!("{}:\n", thread.name);
    for (pc, instr) in thread.instrs.iter().enumerate() {
        let line = match instr {
            Instr::Assign(register, value) => {
                format!("{} = {}", thread.regs[usize::from(*register)], show_expr(value, thread))
            }
            Instr::Branch(condition, pc) => format!("if {} jump {pc}", show_expr(condition, thread)),
            Instr::Jump(pc) => format!("jump {pc}"),
            Instr::Choose(pcs) => format!("choose {pcs:?}"),
            Instr::Assume(condition) => format!("assume {}", show_expr(condition, thread)),
            Instr::Assert(condition, site) => {
                format!("assert {} @{}", show_expr(condition, thread), code.sites[*site as usize].text)
            }
            Instr::Fits(value, site) => {
                format!("fits {} @{}", show_expr(value, thread), code.sites[*site as usize].text)
            }
            Instr::Access(access) => show_access(access, thread, code),
            Instr::End => "end".to_string(),
        };
        writeln!(text, "  {pc}: {line}").expect("writing to a string");
    }
    text
}

/// The lowered threads for rc20.
fn control(source: &str, expected: Expect) {
    let code = compile(source, Model::Rc20);
    expected.assert_eq(&code.threads.iter().map(|t| show_thread(t, &code)).collect::<String>());
}

/// Each statement on its own, for each model: one line per statement and model.
fn accesses(statements: &[&str], expected: Expect) {
    let mut text = String::new();
    for statement in statements {
        writeln!(text, "{statement}").expect("writing to a string");
        for model in Model::WATCHED {
            let code = compile(&format!("global x; na d; fn f {{ local r; {statement} }}"), model);
            let thread = &code.threads[0];
            let lines: Vec<String> = thread
                .instrs
                .iter()
                .filter_map(|instr| match instr {
                    Instr::Access(access) => Some(show_access(access, thread, &code)),
                    _ => None,
                })
                .collect();
            let line = if lines.is_empty() { "nothing".to_string() } else { lines.join("; ") };
            writeln!(text, "  {model:4} {line}").expect("writing to a string");
        }
    }
    expected.assert_eq(&text);
}

#[test]
fn loads_and_stores() {
    accesses(
        &[
            "r = x.load();",
            "r = x.load(rlx);",
            "r = x.load(acq);",
            "r = x.load(sc);",
            "x.store(r);",
            "x.store(1, rlx);",
            "x.store(1, rel);",
            "x.store(1, sc);",
            "wait(x, 1, 2);",
            "r = wait(x, r, acq);",
            "wait(x, 1, sc);",
            "r = d.naload();",
            "d.nastore(1);",
        ],
        expect![[r#"
            r = x.load();
              sc   r = load x() rlx
              ra   r = load x() acq
              rc11 r = load x() rlx
              rc20 r = load x() rlx
              tso  r = load x() rlx
            r = x.load(rlx);
              sc   r = load x() rlx
              ra   r = load x() acq
              rc11 r = load x() rlx
              rc20 r = load x() rlx
              tso  r = load x() rlx
            r = x.load(acq);
              sc   r = load x() rlx
              ra   r = load x() acq
              rc11 r = load x() acq
              rc20 r = load x() acq
              tso  r = load x() rlx
            r = x.load(sc);
              sc   r = load x() rlx
              ra   fetch_add (fence)(0) acq_rel; r = load x() acq
              rc11 r = load x() sc
              rc20 fence acq; fetch_add (fence)(0) acq_rel; fence rel; r = load x() acq
              tso  r = load x() rlx
            x.store(r);
              sc   store x(r) rlx
              ra   store x(r) rel
              rc11 store x(r) rlx
              rc20 store x(r) rlx
              tso  store x(r) rlx
            x.store(1, rlx);
              sc   store x(1) rlx
              ra   store x(1) rel
              rc11 store x(1) rlx
              rc20 store x(1) rlx
              tso  store x(1) rlx
            x.store(1, rel);
              sc   store x(1) rlx
              ra   store x(1) rel
              rc11 store x(1) rel
              rc20 store x(1) rel
              tso  store x(1) rlx
            x.store(1, sc);
              sc   store x(1) rlx
              ra   fetch_add (fence)(0) acq_rel; store x(1) rel
              rc11 store x(1) sc
              rc20 fence acq; fetch_add (fence)(0) acq_rel; fence rel; store x(1) rel
              tso  store x(1) rlx; fence sc
            wait(x, 1, 2);
              sc   wait x(1, 2) rlx
              ra   wait x(1, 2) acq
              rc11 wait x(1, 2) rlx
              rc20 wait x(1, 2) rlx
              tso  wait x(1, 2) rlx
            r = wait(x, r, acq);
              sc   r = wait x(r) rlx
              ra   r = wait x(r) acq
              rc11 r = wait x(r) acq
              rc20 r = wait x(r) acq
              tso  r = wait x(r) rlx
            wait(x, 1, sc);
              sc   wait x(1) rlx
              ra   fetch_add (fence)(0) acq_rel; wait x(1) acq
              rc11 wait x(1) sc
              rc20 fence acq; fetch_add (fence)(0) acq_rel; fence rel; wait x(1) acq
              tso  wait x(1) rlx
            r = d.naload();
              sc   r = load d() na
              ra   r = load d() na
              rc11 r = load d() na
              rc20 r = load d() na
              tso  r = load d() na
            d.nastore(1);
              sc   store d(1) na
              ra   store d(1) na
              rc11 store d(1) na
              rc20 store d(1) na
              tso  store d(1) na
        "#]],
    );
}

#[test]
fn read_modify_writes() {
    accesses(
        &[
            "r = FADD(x, -1);",
            "FADD(x, 1, acq, rlx);",
            "FADD(x, 1, acq, rel);",
            "FADD(x, 1, rel);",
            "FADD(x, 1, sc);",
            "r = exchange(x, 2, rlx, rel);",
            "r = CAS(x, r, r + 1, acq, rel);",
            "r = CAS(x, 0, 1, sc, sc, rlx);",
            "r = WCAS(x, 0, 1, acq, rlx);",
            "BCAS(x, 0, 1);",
            "lock(x);",
            "unlock(x);",
        ],
        expect![[r#"
            r = FADD(x, -1);
              sc   r = fetch_add x(255) rlx
              ra   r = fetch_add x(255) acq_rel
              rc11 r = fetch_add x(255) rlx
              rc20 r = fetch_add x(255) rlx
              tso  r = fetch_add x(255) sc
            FADD(x, 1, acq, rlx);
              sc   fetch_add x(1) rlx
              ra   fetch_add x(1) acq_rel
              rc11 fetch_add x(1) acq
              rc20 fetch_add x(1) acq
              tso  fetch_add x(1) sc
            FADD(x, 1, acq, rel);
              sc   fetch_add x(1) rlx
              ra   fetch_add x(1) acq_rel
              rc11 fetch_add x(1) acq_rel
              rc20 fetch_add x(1) acq_rel
              tso  fetch_add x(1) sc
            FADD(x, 1, rel);
              sc   fetch_add x(1) rlx
              ra   fetch_add x(1) acq_rel
              rc11 fetch_add x(1) rel
              rc20 fetch_add x(1) rel
              tso  fetch_add x(1) sc
            FADD(x, 1, sc);
              sc   fetch_add x(1) rlx
              ra   fetch_add (fence)(0) acq_rel; fetch_add x(1) acq_rel
              rc11 fetch_add x(1) sc
              rc20 fence acq; fetch_add (fence)(0) acq_rel; fence rel; fetch_add x(1) acq_rel
              tso  fetch_add x(1) sc
            r = exchange(x, 2, rlx, rel);
              sc   r = exchange x(2) rlx
              ra   r = exchange x(2) acq_rel
              rc11 r = exchange x(2) rel
              rc20 r = exchange x(2) rel
              tso  r = exchange x(2) sc
            r = CAS(x, r, r + 1, acq, rel);
              sc   r = cas x(r, Add(r, 1)) rlx
              ra   r = cas x(r, Add(r, 1)) acq_rel
              rc11 r = cas x(r, Add(r, 1)) acq_rel
              rc20 r = cas x(r, Add(r, 1)) acq_rel
              tso  r = cas x(r, Add(r, 1)) sc
            r = CAS(x, 0, 1, sc, sc, rlx);
              sc   r = cas x(0, 1) rlx
              ra   fetch_add (fence)(0) acq_rel; r = cas x(0, 1) acq_rel
              rc11 r = cas x(0, 1) sc
              rc20 fence acq; fetch_add (fence)(0) acq_rel; fence rel; r = cas x(0, 1) acq_rel
              tso  r = cas x(0, 1) sc
            r = WCAS(x, 0, 1, acq, rlx);
              sc   r = weak_cas x(0, 1) rlx
              ra   r = weak_cas x(0, 1) acq_rel
              rc11 r = weak_cas x(0, 1) acq
              rc20 r = weak_cas x(0, 1) acq
              tso  r = weak_cas x(0, 1) sc
            BCAS(x, 0, 1);
              sc   blocking_cas x(0, 1) rlx
              ra   blocking_cas x(0, 1) acq_rel
              rc11 blocking_cas x(0, 1) rlx
              rc20 blocking_cas x(0, 1) rlx
              tso  blocking_cas x(0, 1) sc
            lock(x);
              sc   blocking_cas x(0, 1) rlx
              ra   blocking_cas x(0, 1) acq_rel
              rc11 blocking_cas x(0, 1) acq
              rc20 blocking_cas x(0, 1) acq
              tso  blocking_cas x(0, 1) sc
            unlock(x);
              sc   store x(0) rlx
              ra   store x(0) rel
              rc11 store x(0) rel
              rc20 store x(0) rel
              tso  store x(0) rlx
        "#]],
    );
}

#[test]
fn fences() {
    accesses(
        &["fence;", "fence(upd);", "fence(seq_cst);", "fence(acq);", "fence(rel);", "fence(acq_rel);"],
        expect![[r#"
            fence;
              sc   nothing
              ra   fetch_add (fence)(0) acq_rel
              rc11 fence sc
              rc20 fence acq; fetch_add (fence)(0) acq_rel; fence rel
              tso  fence sc
            fence(upd);
              sc   nothing
              ra   fetch_add (fence)(0) acq_rel
              rc11 fence sc
              rc20 fence acq; fetch_add (fence)(0) acq_rel; fence rel
              tso  fence sc
            fence(seq_cst);
              sc   nothing
              ra   fetch_add (fence)(0) acq_rel
              rc11 fence sc
              rc20 fence acq; fetch_add (fence)(0) acq_rel; fence rel
              tso  fence sc
            fence(acq);
              sc   nothing
              ra   nothing
              rc11 fence acq
              rc20 fence acq
              tso  nothing
            fence(rel);
              sc   nothing
              ra   nothing
              rc11 fence rel
              rc20 fence rel
              tso  nothing
            fence(acq_rel);
              sc   nothing
              ra   nothing
              rc11 fence acq; fence rel
              rc20 fence acq; fence rel
              tso  nothing
        "#]],
    );
}

#[test]
fn control_flow() {
    control(
        "fn f { local a, b; again: a = a + 1; if (a) goto again; if (a) { b = 1; } if (a) { b = 2; } else { b = 3; } \
         while (a < 3) { a = a + 1; } while (true) { b = 4; } goto end; end: }",
        expect![[r#"
            f:
              0: a = Add(a, 1)
              1: if a jump 0
              2: if Not(a) jump 4
              3: b = 1
              4: if Not(a) jump 7
              5: b = 2
              6: jump 8
              7: b = 3
              8: if Not(Lt(a, 3)) jump 11
              9: a = Add(a, 1)
              10: jump 8
              11: b = 4
              12: jump 11
              13: jump 14
              14: end
        "#]],
    );
    control(
        "fn f { local a; oneof ({ a = 1; } { a = 2; } {}); assume(a != 2); assert(a == 1); verify(a); skip; \
         if (false) { a = 5; } if (1) { a = 6; } else { a = 7; } }",
        expect![[r#"
            f:
              0: choose [1, 3, 5]
              1: a = 1
              2: jump 5
              3: a = 2
              4: jump 5
              5: assume Ne(a, 2)
              6: assert Eq(a, 1) @assert(a == 1)
              7: jump 9
              8: a = 5
              9: a = 6
              10: jump 12
              11: a = 7
              12: end
        "#]],
    );
}

#[test]
fn replicated_threads() {
    control(
        "max_value 7; global x; fn w[3] { local r; r = FADD(x, w + 1); x.store(2 - w * r); assert(r != w); } \
         fn last { skip; }",
        expect![[r#"
            w[0]:
              0: r = fetch_add x(1) rlx
              1: store x(Sub(2, Mul(0, r))) rlx
              2: assert Ne(r, 0) @assert(r != w)
              3: end
            w[1]:
              0: r = fetch_add x(2) rlx
              1: store x(Sub(2, Mul(1, r))) rlx
              2: assert Ne(r, 1) @assert(r != w)
              3: end
            w[2]:
              0: r = fetch_add x(3) rlx
              1: store x(Sub(2, Mul(2, r))) rlx
              2: assert Ne(r, 2) @assert(r != w)
              3: end
            last:
              0: end
        "#]],
    );
    let code = compile("global x; fn w[3] { x.store(w); } fn z { x.store(9); }", Model::Rc20);
    let texts: Vec<&str> = code.sites.iter().map(|site| site.text.as_str()).collect();
    assert_eq!(texts, ["x.store(w)", "x.store(9)"], "all instances share their sites");
}

#[test]
fn values_wrap() {
    control(
        "max_value 5; global x = 5; fn f { local r; x.store(666); r = -1; r = 4 + 3; r = 1 - 3; r = 6 * r; r = -r; }",
        expect![[r#"
            f:
              0: store x(0) rlx
              1: r = 5
              2: r = 1
              3: r = 4
              4: r = Mul(0, r)
              5: r = Neg(r)
              6: end
        "#]],
    );
}

#[test]
fn hidden_location() {
    let hidden = |source: &str, model| compile(source, model).locations.iter().filter(|l| l.hidden).count();
    for (source, on_ra_and_rc20) in [
        ("global x; fn f { x.store(1, rel); fence(acq); }", 0),
        ("global x; fn f { fence; fence; }", 1),
        ("global x; fn f { x.store(1, sc); }", 1),
    ] {
        assert_eq!(hidden(source, Model::Sc), 0);
        assert_eq!(hidden(source, Model::Tso), 0);
        assert_eq!(hidden(source, Model::Rc11), 0);
        assert_eq!(hidden(source, Model::Ra), on_ra_and_rc20);
        assert_eq!(hidden(source, Model::Rc20), on_ra_and_rc20);
    }
}

#[test]
fn sites_quote_the_source() {
    let source = "global x; fn f { local r;\n  r = CAS(x,0 , r+1,acq,rel); x.store( (1+2)*r ); fence;\n assert(!(r==1)); }";
    let code = compile(source, Model::Rc20);
    let sites: Vec<String> =
        code.sites.iter().map(|site| format!("{:?} -> {}", &source[site.span.clone()], site.text)).collect();
    expect![[r#"
        "r = CAS(x,0 , r+1,acq,rel)" -> r = CAS(x, 0, r + 1, acq, rel)
        "x.store( (1+2)*r )" -> x.store((1 + 2) * r)
        "fence" -> fence(seq_cst)
        "assert(!(r==1))" -> assert(!(r == 1))"#]]
    .assert_eq(&sites.join("\n"));
}

#[test]
fn models_have_names() {
    for model in Model::ALL {
        assert_eq!(model.to_string().parse(), Ok(model));
    }
    let error = "x86".parse::<Model>().expect_err("no such model");
    let expected = "no memory model is called `x86` (there are sc, ra, rc11, rc20, tso, armv8, armv7)";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn programs_are_not_lowered_for_arm() {
    let program = parse(b"global x; fn a { x.store(1); }", "").expect("a correct program").program;
    for model in [Model::ArmV8, Model::ArmV7] {
        let error = lower(&program, model).expect_err("no lowering");
        let expected = format!("no program is checked against {model} (but against sc, ra, rc11, rc20, tso)");
        assert_eq!(error.to_string(), expected);
    }
}
