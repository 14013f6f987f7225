//! Stacks as programs make them: calls, returns, jumps, recursion, other stacks.

use super::*;

const TOP: usize = 0x7fff_ffff_0000;

/// Enters functions one inside the other.
fn enter_all(stack: &mut Stack, pcs: &[usize]) {
    for &pc in pcs {
        let sp = TOP - (stack.depth() + 1) * 64;
        stack.enter(pc, sp);
    }
}

#[test]
fn sites_have_their_callers() {
    let mut stack = Stack::new();
    assert_eq!(frames(stack.site(0x10)), [0x10]);
    enter_all(&mut stack, &[0x100, 0x200]);
    let inner = stack.site(0x30);
    assert_eq!(frames(inner), [0x30, 0x200, 0x100]);
    assert_eq!(stack.site(0x30), inner);
    stack.exit();
    let outer = stack.site(0x30);
    assert_eq!(frames(outer), [0x30, 0x100]);
    enter_all(&mut stack, &[0x200]);
    assert_eq!(stack.site(0x30), inner);
    stack.exit();
    stack.exit();
    // One exit too many.
    stack.exit();
    assert_eq!(frames(stack.site(0x11)), [0x11]);
    assert_eq!(frames(Site::UNKNOWN), []);
    assert_eq!(frames(bare_site(0x12)), [0x12]);
}

#[test]
fn threads_share_numbers() {
    let mut a = Stack::new();
    let mut b = Stack::new();
    enter_all(&mut a, &[0x1100, 0x1200]);
    enter_all(&mut b, &[0x1100, 0x1200]);
    assert_eq!(a.site(0x1300), b.site(0x1300));
}

#[test]
fn jumps_leave_frames_without_a_word() {
    let mut stack = Stack::new();
    enter_all(&mut stack, &[0x2100, 0x2200, 0x2300, 0x2400]);
    stack.site(0x20);
    // longjmp into the first function, which then calls another.
    stack.enter(0x2500, TOP - 2 * 64);
    assert_eq!(frames(stack.site(0x20)), [0x20, 0x2500, 0x2100]);
    assert_eq!(stack.depth(), 2);
}

#[test]
fn other_stacks_leave_nothing() {
    let mut stack = Stack::new();
    enter_all(&mut stack, &[0x3100, 0x3200]);
    stack.enter(0x3300, TOP + (1 << 30));
    assert_eq!(frames(stack.site(0x21)), [0x21, 0x3300, 0x3200, 0x3100]);
    stack.enter(0x3400, TOP - (1 << 30));
    stack.exit();
    stack.exit();
    assert_eq!(frames(stack.site(0x21)), [0x21, 0x3200, 0x3100]);
}

#[test]
fn recursion_is_cut_to_one_round() {
    let mut stack = Stack::new();
    enter_all(&mut stack, &[0x4100, 0x4200, 0x4300, 0x4200, 0x4300, 0x4200]);
    assert_eq!(frames(stack.site(0x22)), [0x22, 0x4200, 0x4100]);
    let before = counts();
    // All paths of a recursion with two call sites.
    for path in 0..1u32 << 12 {
        stack.reset();
        let path: Vec<_> = (0..12).map(|i| 0x4800 + 16 * (path >> i & 1) as usize).collect();
        enter_all(&mut stack, &path);
        assert!(frames(stack.site(0x23)).len() <= 3);
    }
    assert!(counts().0 < before.0 + 1000, "other tests add a few");
}

#[test]
fn deep_stacks_are_counted() {
    let mut stack = Stack::new();
    let deep = 3 * CAPACITY;
    for i in 0..deep {
        stack.enter(0x5000 + i % 100, TOP - (i + 1) * 16);
    }
    assert_eq!(stack.depth(), deep);
    assert!(stack.site(0x24) != Site::UNKNOWN);
    for _ in 0..deep - 2 {
        stack.exit();
    }
    assert_eq!(frames(stack.site(0x24)), [0x24, 0x5001, 0x5000]);
    // Up again, and out by a jump.
    for i in 2..deep {
        stack.enter(0x5000 + i % 100, TOP - (i + 1) * 16);
    }
    stack.enter(0x6000, TOP - 2 * 16);
    assert_eq!(frames(stack.site(0x24)), [0x24, 0x6000, 0x5000]);
}
