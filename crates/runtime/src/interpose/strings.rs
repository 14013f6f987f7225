//! Functions that read and write memory for the program: copies, comparisons, strings.
//!
//! They count if instrumented code calls them itself (`Caller::watched`). What they read and write is told before the
//! real function does it. Comparisons count as far as they have to look.

use super::caller::Caller;
use crate::plain;
use core::ffi::c_int;

type Bytes = *const u8;

real! {
    fn memcpy(to: *mut u8, from: Bytes, n: usize) -> *mut u8;
    fn memmove(to: *mut u8, from: Bytes, n: usize) -> *mut u8;
    fn mempcpy(to: *mut u8, from: Bytes, n: usize) -> *mut u8;
    fn memset(to: *mut u8, value: c_int, n: usize) -> *mut u8;
    fn memcmp(a: Bytes, b: Bytes, n: usize) -> c_int;
    fn memchr(a: Bytes, value: c_int, n: usize) -> *mut u8;
    fn strlen(a: Bytes) -> usize;
    fn strnlen(a: Bytes, n: usize) -> usize;
    fn strcpy(to: *mut u8, from: Bytes) -> *mut u8;
    fn stpcpy(to: *mut u8, from: Bytes) -> *mut u8;
    fn strncpy(to: *mut u8, from: Bytes, n: usize) -> *mut u8;
    fn strcat(to: *mut u8, from: Bytes) -> *mut u8;
    fn strncat(to: *mut u8, from: Bytes, n: usize) -> *mut u8;
    fn strcmp(a: Bytes, b: Bytes) -> c_int;
    fn strncmp(a: Bytes, b: Bytes, n: usize) -> c_int;
    fn strchr(a: Bytes, value: c_int) -> *mut u8;
    fn strrchr(a: Bytes, value: c_int) -> *mut u8;
    fn strstr(a: Bytes, b: Bytes) -> *mut u8;
    fn strdup(a: Bytes) -> *mut u8;
    fn strndup(a: Bytes, n: usize) -> *mut u8;
    fn __memcpy_chk(to: *mut u8, from: Bytes, n: usize, room: usize) -> *mut u8;
    fn __memmove_chk(to: *mut u8, from: Bytes, n: usize, room: usize) -> *mut u8;
    fn __memset_chk(to: *mut u8, value: c_int, n: usize, room: usize) -> *mut u8;
    fn __strcpy_chk(to: *mut u8, from: Bytes, room: usize) -> *mut u8;
    fn __strncpy_chk(to: *mut u8, from: Bytes, n: usize, room: usize) -> *mut u8;
    fn __strcat_chk(to: *mut u8, from: Bytes, room: usize) -> *mut u8;
}

fn read(from: Bytes, n: usize, pc: usize) {
    plain::read(from as usize, n, pc);
}

fn write(to: *mut u8, n: usize, pc: usize) {
    plain::write(to as usize, n, pc);
}

fn copied(to: *mut u8, from: Bytes, n: usize, caller: Caller) {
    if let Some(pc) = caller.watched() {
        read(from, n, pc);
        write(to, n, pc);
    }
}

fn filled(to: *mut u8, n: usize, caller: Caller) {
    if let Some(pc) = caller.watched() {
        write(to, n, pc);
    }
}

/// The length of a string, its zero byte included.
unsafe fn whole(string: Bytes) -> usize {
    // SAFETY: the caller's promise.
    unsafe { real::strlen(string) + 1 }
}

/// How much of a string of at most `n` bytes is read: up to its zero byte, if it has one.
unsafe fn part(string: Bytes, n: usize) -> usize {
    // SAFETY: the caller's promise.
    unsafe { (real::strnlen(string, n) + 1).min(n) }
}

/// How many bytes a comparison has to look at: up to the first that differ, or the end of both strings.
unsafe fn alike(a: Bytes, b: Bytes, n: usize, strings: bool) -> usize {
    // SAFETY: the caller's promise, which holds as far as the comparison has to look.
    let goes_on = |&i: &usize| unsafe { *a.add(i) == *b.add(i) && !(strings && *a.add(i) == 0) };
    ((0..n).take_while(goes_on).count() + 1).min(n)
}

/// In each: the caller's promise is that of the function.
macro_rules! functions {
    ($($name:ident($($argument:ident: $type:ty),*; $caller:ident) -> $result:ty { $($before:tt)* } $real:ident;)*) => {$(
        unsafe extern "C" fn $name($($argument: $type,)* $caller: Caller) -> $result {
            // SAFETY: the caller's arguments.
            unsafe {
                $($before)*
                real::$real($($argument),*)
            }
        }
    )*};
}

functions! {
    memcpy(to: *mut u8, from: Bytes, n: usize; caller) -> *mut u8 { copied(to, from, n, caller); } memcpy;
    memmove(to: *mut u8, from: Bytes, n: usize; caller) -> *mut u8 { copied(to, from, n, caller); } memmove;
    mempcpy(to: *mut u8, from: Bytes, n: usize; caller) -> *mut u8 { copied(to, from, n, caller); } mempcpy;
    memset(to: *mut u8, value: c_int, n: usize; caller) -> *mut u8 { filled(to, n, caller); } memset;
    memcpy_chk(to: *mut u8, from: Bytes, n: usize, room: usize; caller) -> *mut u8 {
        copied(to, from, n.min(room), caller);
    } __memcpy_chk;
    memmove_chk(to: *mut u8, from: Bytes, n: usize, room: usize; caller) -> *mut u8 {
        copied(to, from, n.min(room), caller);
    } __memmove_chk;
    memset_chk(to: *mut u8, value: c_int, n: usize, room: usize; caller) -> *mut u8 {
        filled(to, n.min(room), caller);
    } __memset_chk;
    memcmp(a: Bytes, b: Bytes, n: usize; caller) -> c_int {
        if let Some(pc) = caller.watched() {
            let n = alike(a, b, n, false);
            read(a, n, pc);
            read(b, n, pc);
        }
    } memcmp;
    memchr(a: Bytes, value: c_int, n: usize; caller) -> *mut u8 {
        if let Some(pc) = caller.watched() {
            let found = real::memchr(a, value, n);
            read(a, if found.is_null() { n } else { found as usize - a as usize + 1 }, pc);
        }
    } memchr;
    strlen(a: Bytes; caller) -> usize {
        if let Some(pc) = caller.watched() {
            read(a, whole(a), pc);
        }
    } strlen;
    strnlen(a: Bytes, n: usize; caller) -> usize {
        if let Some(pc) = caller.watched() {
            read(a, part(a, n), pc);
        }
    } strnlen;
    strcpy(to: *mut u8, from: Bytes; caller) -> *mut u8 { copied(to, from, whole(from), caller); } strcpy;
    stpcpy(to: *mut u8, from: Bytes; caller) -> *mut u8 { copied(to, from, whole(from), caller); } stpcpy;
    strcpy_chk(to: *mut u8, from: Bytes, room: usize; caller) -> *mut u8 {
        copied(to, from, whole(from).min(room), caller);
    } __strcpy_chk;
    strncpy(to: *mut u8, from: Bytes, n: usize; caller) -> *mut u8 {
        if let Some(pc) = caller.watched() {
            read(from, part(from, n), pc);
            write(to, n, pc);
        }
    } strncpy;
    strncpy_chk(to: *mut u8, from: Bytes, n: usize, room: usize; caller) -> *mut u8 {
        if let Some(pc) = caller.watched() {
            read(from, part(from, n), pc);
            write(to, n.min(room), pc);
        }
    } __strncpy_chk;
    strcat(to: *mut u8, from: Bytes; caller) -> *mut u8 { appended(to, from, usize::MAX, caller); } strcat;
    strncat(to: *mut u8, from: Bytes, n: usize; caller) -> *mut u8 { appended(to, from, n, caller); } strncat;
    strcat_chk(to: *mut u8, from: Bytes, room: usize; caller) -> *mut u8 {
        appended(to, from, room, caller);
    } __strcat_chk;
    strcmp(a: Bytes, b: Bytes; caller) -> c_int {
        if let Some(pc) = caller.watched() {
            let n = alike(a, b, usize::MAX, true);
            read(a, n, pc);
            read(b, n, pc);
        }
    } strcmp;
    strncmp(a: Bytes, b: Bytes, n: usize; caller) -> c_int {
        if let Some(pc) = caller.watched() {
            let n = alike(a, b, n, true);
            read(a, n, pc);
            read(b, n, pc);
        }
    } strncmp;
    strchr(a: Bytes, value: c_int; caller) -> *mut u8 {
        if let Some(pc) = caller.watched() {
            let found = real::strchr(a, value);
            read(a, if found.is_null() { whole(a) } else { found as usize - a as usize + 1 }, pc);
        }
    } strchr;
    strrchr(a: Bytes, value: c_int; caller) -> *mut u8 {
        if let Some(pc) = caller.watched() {
            read(a, whole(a), pc);
        }
    } strrchr;
    strstr(a: Bytes, b: Bytes; caller) -> *mut u8 {
        if let Some(pc) = caller.watched() {
            let found = real::strstr(a, b);
            let rest = whole(b);
            read(a, if found.is_null() { whole(a) } else { found as usize - a as usize + rest - 1 }, pc);
            read(b, rest, pc);
        }
    } strstr;
    strdup(a: Bytes; caller) -> *mut u8 {
        if let Some(pc) = caller.watched() {
            read(a, whole(a), pc);
        }
    } strdup;
    strndup(a: Bytes, n: usize; caller) -> *mut u8 {
        if let Some(pc) = caller.watched() {
            read(a, part(a, n), pc);
        }
    } strndup;
}

/// Before at most `n` bytes of a string are put at the end of another.
unsafe fn appended(to: *mut u8, from: Bytes, n: usize, caller: Caller) {
    if let Some(pc) = caller.watched() {
        // SAFETY: both are strings.
        unsafe {
            let (end, length) = (whole(to), real::strnlen(from, n));
            read(to, end, pc);
            read(from, length.saturating_add(1).min(n), pc);
            write(to.add(end - 1), length.saturating_add(1), pc);
        }
    }
}

/// What compilers call in place of copies: always by instrumented code.
unsafe extern "C" fn instrumented_memcpy(to: *mut u8, from: Bytes, n: usize, caller: Caller) -> *mut u8 {
    read(from, n, caller.pc());
    write(to, n, caller.pc());
    // SAFETY: the caller's arguments.
    unsafe { real::memcpy(to, from, n) }
}

unsafe extern "C" fn instrumented_memmove(to: *mut u8, from: Bytes, n: usize, caller: Caller) -> *mut u8 {
    read(from, n, caller.pc());
    write(to, n, caller.pc());
    // SAFETY: the caller's arguments.
    unsafe { real::memmove(to, from, n) }
}

unsafe extern "C" fn instrumented_memset(to: *mut u8, value: c_int, n: usize, caller: Caller) -> *mut u8 {
    write(to, n, caller.pc());
    // SAFETY: the caller's arguments.
    unsafe { real::memset(to, value, n) }
}

shims! {
    __tsan_memcpy => instrumented_memcpy, "rcx";
    __tsan_memmove => instrumented_memmove, "rcx";
    __tsan_memset => instrumented_memset, "rcx";
    __interpose_memcpy => memcpy, "rcx";
    __interpose_memmove => memmove, "rcx";
    __interpose_mempcpy => mempcpy, "rcx";
    __interpose___mempcpy => mempcpy, "rcx";
    __interpose_memset => memset, "rcx";
    __interpose___memcpy_chk => memcpy_chk, "r8";
    __interpose___memmove_chk => memmove_chk, "r8";
    __interpose___memset_chk => memset_chk, "r8";
    __interpose_memcmp => memcmp, "rcx";
    __interpose_bcmp => memcmp, "rcx";
    __interpose_memchr => memchr, "rcx";
    __interpose_strlen => strlen, "rsi";
    __interpose_strnlen => strnlen, "rdx";
    __interpose_strcpy => strcpy, "rdx";
    __interpose_stpcpy => stpcpy, "rdx";
    __interpose___strcpy_chk => strcpy_chk, "rcx";
    __interpose_strncpy => strncpy, "rcx";
    __interpose___strncpy_chk => strncpy_chk, "r8";
    __interpose_strcat => strcat, "rdx";
    __interpose_strncat => strncat, "rcx";
    __interpose___strcat_chk => strcat_chk, "rcx";
    __interpose_strcmp => strcmp, "rdx";
    __interpose_strncmp => strncmp, "rcx";
    __interpose_strchr => strchr, "rdx";
    __interpose_strrchr => strrchr, "rdx";
    __interpose_strstr => strstr, "rdx";
    __interpose_strdup => strdup, "rsi";
    __interpose_strndup => strndup, "rdx";
}
