//! `memcpy`, `memmove`, `memset`, `memcmp`, `bcmp` and `strlen` in assembly.
//!
//! The compiler turns loops and copies in the runtime into calls of these names, and the program's own versions are
//! interposed: the build of the runtime object redirects the runtime's references to the functions here. They are in
//! assembly because a compiler would turn a copying loop in Rust into a call of `memcpy`.
//! Short copies read everything before they write anything, by loads that overlap in the middle.

use core::arch::naked_asm;
use core::ffi::{c_int, c_void};

/// `memcpy`; long copies by `rep movsb`.
///
/// # Safety
/// As `memcpy`.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __seqcst_raw_memcpy(to: *mut c_void, from: *const c_void, n: usize) -> *mut c_void {
    naked_asm!(
        "cmp rdx, 4096",
        "jb {memmove}",
        "mov rax, rdi",
        "mov rcx, rdx",
        "rep movsb",
        "ret",
        memmove = sym __seqcst_raw_memmove,
    )
}

/// `memmove`
///
/// # Safety
/// As `memmove`.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __seqcst_raw_memmove(to: *mut c_void, from: *const c_void, n: usize) -> *mut c_void {
    naked_asm!(
        "mov rax, rdi",
        "cmp rdx, 16",
        "jb 20f",
        "cmp rdx, 32",
        "ja 30f",
        // 16 to 32
        "movups xmm0, [rsi]",
        "movups xmm1, [rsi + rdx - 16]",
        "movups [rdi], xmm0",
        "movups [rdi + rdx - 16], xmm1",
        "ret",
        "20:",
        "cmp edx, 8",
        "jb 21f",
        // 8 to 15
        "mov rcx, [rsi]",
        "mov r8, [rsi + rdx - 8]",
        "mov [rdi], rcx",
        "mov [rdi + rdx - 8], r8",
        "ret",
        "21:",
        "cmp edx, 4",
        "jb 22f",
        // 4 to 7
        "mov ecx, [rsi]",
        "mov r8d, [rsi + rdx - 4]",
        "mov [rdi], ecx",
        "mov [rdi + rdx - 4], r8d",
        "ret",
        "22:",
        "test edx, edx",
        "je 23f",
        // 1 to 3: the first, the middle and the last byte
        "movzx ecx, byte ptr [rsi]",
        "movzx r8d, byte ptr [rsi + rdx - 1]",
        "mov r9, rdx",
        "shr r9, 1",
        "movzx r10d, byte ptr [rsi + r9]",
        "mov [rdi], cl",
        "mov [rdi + r9], r10b",
        "mov [rdi + rdx - 1], r8b",
        "23:",
        "ret",
        "30:",
        "cmp rdx, 64",
        "ja 40f",
        // 33 to 64
        "movups xmm0, [rsi]",
        "movups xmm1, [rsi + 16]",
        "movups xmm2, [rsi + rdx - 32]",
        "movups xmm3, [rsi + rdx - 16]",
        "movups [rdi], xmm0",
        "movups [rdi + 16], xmm1",
        "movups [rdi + rdx - 32], xmm2",
        "movups [rdi + rdx - 16], xmm3",
        "ret",
        "40:",
        "mov rcx, rdi",
        "sub rcx, rsi",
        "cmp rcx, rdx",
        "jb 50f",
        // More than 64, upwards: the last 64 bytes are read first and written last.
        "movups xmm4, [rsi + rdx - 64]",
        "movups xmm5, [rsi + rdx - 48]",
        "movups xmm6, [rsi + rdx - 32]",
        "movups xmm7, [rsi + rdx - 16]",
        "lea r8, [rdi + rdx - 64]",
        "41:",
        "movups xmm0, [rsi]",
        "movups xmm1, [rsi + 16]",
        "movups xmm2, [rsi + 32]",
        "movups xmm3, [rsi + 48]",
        "movups [rdi], xmm0",
        "movups [rdi + 16], xmm1",
        "movups [rdi + 32], xmm2",
        "movups [rdi + 48], xmm3",
        "add rsi, 64",
        "add rdi, 64",
        "cmp rdi, r8",
        "jb 41b",
        "movups [r8], xmm4",
        "movups [r8 + 16], xmm5",
        "movups [r8 + 32], xmm6",
        "movups [r8 + 48], xmm7",
        "ret",
        // More than 64, downwards, because the target begins inside the source.
        "50:",
        "movups xmm4, [rsi]",
        "movups xmm5, [rsi + 16]",
        "movups xmm6, [rsi + 32]",
        "movups xmm7, [rsi + 48]",
        "51:",
        "movups xmm0, [rsi + rdx - 64]",
        "movups xmm1, [rsi + rdx - 48]",
        "movups xmm2, [rsi + rdx - 32]",
        "movups xmm3, [rsi + rdx - 16]",
        "movups [rdi + rdx - 64], xmm0",
        "movups [rdi + rdx - 48], xmm1",
        "movups [rdi + rdx - 32], xmm2",
        "movups [rdi + rdx - 16], xmm3",
        "sub rdx, 64",
        "cmp rdx, 64",
        "ja 51b",
        "movups [rdi], xmm4",
        "movups [rdi + 16], xmm5",
        "movups [rdi + 32], xmm6",
        "movups [rdi + 48], xmm7",
        "ret",
    )
}

/// `memset`
///
/// # Safety
/// As `memset`.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __seqcst_raw_memset(to: *mut c_void, byte: c_int, n: usize) -> *mut c_void {
    naked_asm!(
        "mov rax, rdi",
        "movzx esi, sil",
        "cmp rdx, 1024",
        "jae 60f",
        "mov rcx, 0x0101010101010101",
        "imul rsi, rcx",
        "cmp rdx, 16",
        "jb 20f",
        "movq xmm0, rsi",
        "punpcklqdq xmm0, xmm0",
        "lea r8, [rdi + rdx - 16]",
        "30:",
        "movups [rdi], xmm0",
        "add rdi, 16",
        "cmp rdi, r8",
        "jb 30b",
        "movups [r8], xmm0",
        "ret",
        "20:",
        "cmp edx, 8",
        "jb 21f",
        "mov [rdi], rsi",
        "mov [rdi + rdx - 8], rsi",
        "ret",
        "21:",
        "cmp edx, 4",
        "jb 22f",
        "mov [rdi], esi",
        "mov [rdi + rdx - 4], esi",
        "ret",
        "22:",
        "test edx, edx",
        "je 23f",
        "mov [rdi + rdx - 1], sil",
        "shr rdx, 1",
        "mov [rdi], sil",
        "mov [rdi + rdx], sil",
        "23:",
        "ret",
        "60:",
        "mov r8, rax",
        "mov rcx, rdx",
        "mov eax, esi",
        "rep stosb",
        "mov rax, r8",
        "ret",
    )
}

/// `memcmp`
///
/// # Safety
/// As `memcmp`.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __seqcst_raw_memcmp(a: *const c_void, b: *const c_void, n: usize) -> c_int {
    naked_asm!(
        "xor ecx, ecx",
        "lea r8, [rdx - 16]",
        "cmp rdx, 16",
        "jb 30f",
        // 16 bytes at a time; the last 16 may overlap the ones before.
        "20:",
        "movups xmm0, [rdi + rcx]",
        "movups xmm1, [rsi + rcx]",
        "pcmpeqb xmm0, xmm1",
        "pmovmskb eax, xmm0",
        "xor eax, 0xffff",
        "jne 40f",
        "cmp rcx, r8",
        "je 41f",
        "add rcx, 16",
        "cmp rcx, r8",
        "cmova rcx, r8",
        "jmp 20b",
        // fewer than 16
        "30:",
        "cmp rcx, rdx",
        "je 41f",
        "movzx eax, byte ptr [rdi + rcx]",
        "movzx r8d, byte ptr [rsi + rcx]",
        "inc rcx",
        "sub eax, r8d",
        "je 30b",
        "ret",
        "40:",
        "bsf eax, eax",
        "add rcx, rax",
        "movzx eax, byte ptr [rdi + rcx]",
        "movzx edx, byte ptr [rsi + rcx]",
        "sub eax, edx",
        "ret",
        "41:",
        "xor eax, eax",
        "ret",
    )
}

/// `bcmp`
///
/// # Safety
/// As `bcmp`.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __seqcst_raw_bcmp(a: *const c_void, b: *const c_void, n: usize) -> c_int {
    naked_asm!("jmp {memcmp}", memcmp = sym __seqcst_raw_memcmp)
}

/// `strlen`; aligned loads never reach into the next page.
///
/// # Safety
/// As `strlen`.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __seqcst_raw_strlen(text: *const c_void) -> usize {
    naked_asm!(
        "pxor xmm0, xmm0",
        "mov rax, rdi",
        "mov ecx, edi",
        "and rax, -16",
        "and ecx, 15",
        "movdqa xmm1, [rax]",
        "pcmpeqb xmm1, xmm0",
        "pmovmskb edx, xmm1",
        "shr edx, cl",
        "test edx, edx",
        "jne 30f",
        "20:",
        "add rax, 16",
        "movdqa xmm1, [rax]",
        "pcmpeqb xmm1, xmm0",
        "pmovmskb edx, xmm1",
        "test edx, edx",
        "je 20b",
        "bsf edx, edx",
        "sub rax, rdi",
        "add rax, rdx",
        "ret",
        "30:",
        "bsf eax, edx",
        "ret",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::ptr::from_ref;

    fn lengths() -> impl Iterator<Item = usize> {
        (0..300).chain([1000, 1023, 1024, 1025, 4095, 4096, 4097, 10_000])
    }

    fn noise(n: usize) -> Vec<u8> {
        (0..n as u32).map(|i| (i.wrapping_mul(2654435761) >> 13) as u8).collect()
    }

    #[test]
    fn copies() {
        let source = noise(10_064);
        for n in lengths() {
            for (a, b) in [(0, 0), (1, 5), (7, 3)] {
                let mut ours = vec![0xeeu8; n + 64];
                let mut theirs = ours.clone();
                theirs[b..b + n].copy_from_slice(&source[a..a + n]);
                // SAFETY: in bounds.
                let returned = unsafe {
                    let to = ours.as_mut_ptr().add(b);
                    __seqcst_raw_memcpy(to.cast(), source.as_ptr().add(a).cast(), n) == to.cast()
                };
                assert!(returned && ours == theirs, "{n} bytes");
            }
        }
    }

    #[test]
    fn overlapping_moves() {
        for n in lengths() {
            for shift in [0, 1, 2, 7, 8, 15, 16, 17, 40, 63, 64, 65, 100, 300] {
                let source = noise(n + 400);
                for (from, to) in [(50, 50 + shift), (50 + shift, 50)] {
                    let (mut ours, mut theirs) = (source.clone(), source.clone());
                    theirs.copy_within(from..from + n, to);
                    // SAFETY: in bounds.
                    let returned = unsafe {
                        let base = ours.as_mut_ptr();
                        __seqcst_raw_memmove(base.add(to).cast(), base.add(from).cast(), n)
                            == base.add(to).cast()
                    };
                    assert!(returned && ours == theirs, "{n} bytes from {from} to {to}");
                }
            }
        }
    }

    #[test]
    fn sets() {
        for n in lengths() {
            let mut ours = vec![0xeeu8; n + 40];
            let mut theirs = ours.clone();
            theirs[9..9 + n].fill(0x5a);
            // SAFETY: in bounds. Only the low byte counts.
            let returned = unsafe {
                let to = ours.as_mut_ptr().add(9);
                __seqcst_raw_memset(to.cast(), 0x775a, n) == to.cast()
            };
            assert!(returned && ours == theirs, "{n} bytes");
        }
    }

    #[test]
    fn comparisons() {
        for n in lengths() {
            let a = noise(n);
            let places = [0, 1, n / 2, n.saturating_sub(17), n.saturating_sub(1)];
            for place in places.into_iter().filter(|&place| place < n) {
                for value in [0, 0x7f, 0x80, 0xff] {
                    let mut b = a.clone();
                    b[place] = value;
                    // SAFETY: in bounds.
                    let (ours, equal) = unsafe {
                        let (a, b) = (a.as_ptr().cast(), b.as_ptr().cast());
                        (__seqcst_raw_memcmp(a, b, n), __seqcst_raw_bcmp(a, b, n) == 0)
                    };
                    assert_eq!(ours.cmp(&0), a.cmp(&b), "{n} bytes, difference at {place}");
                    assert_eq!(equal, a == b);
                }
            }
        }
        assert_eq!(unsafe { __seqcst_raw_memcmp(from_ref(&0).cast(), from_ref(&1).cast(), 0) }, 0);
    }

    #[test]
    fn lengths_of_text() {
        for n in lengths() {
            for start in 0..17 {
                let mut text = vec![b'x'; start + n];
                text.extend([0, b'y', 0]);
                // SAFETY: the text ends in a zero.
                assert_eq!(unsafe { __seqcst_raw_strlen(text.as_ptr().add(start).cast()) }, n);
            }
        }
    }
}
