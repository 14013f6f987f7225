//! The functions of libc behind those that stand in front of them.

use crate::sys;
use core::ffi::{CStr, c_void};
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};

/// A function of the next library that has one of this name.
pub struct Real {
    name: &'static CStr,
    address: AtomicPtr<c_void>,
}

impl Real {
    /// Not looked up yet.
    pub const fn new(name: &'static CStr) -> Real {
        Real { name, address: AtomicPtr::new(ptr::null_mut()) }
    }

    /// Where it is.
    #[inline]
    pub fn address(&self) -> *mut c_void {
        let address = self.address.load(Ordering::Relaxed);
        if address.is_null() { self.find() } else { address }
    }

    #[cold]
    fn find(&self) -> *mut c_void {
        let address = self.look_up();
        if address.is_null() {
            sys::fatal(&format!("the program calls {}, which no library has", self.name.to_string_lossy()));
        }
        address
    }

    /// Looks it up; null if there is none.
    pub fn look_up(&self) -> *mut c_void {
        // SAFETY: the name ends in a zero byte.
        let address = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) };
        self.address.store(address, Ordering::Relaxed);
        address
    }
}

/// A name that ends in a zero byte, from one that may not.
pub const fn name(bytes: &'static [u8]) -> &'static CStr {
    match CStr::from_bytes_with_nul(bytes) {
        Ok(name) => name,
        Err(_) => c"",
    }
}

/// Declares functions of libc: `real! { fn close(fd: c_int) -> c_int; }` gives `real::close`, and `look_up` for the
/// start, so that nothing needs to be looked up in a signal handler later.
macro_rules! real {
    ($(fn $name:ident($($argument:ident: $type:ty),* $(,)?) $(-> $result:ty)?;)*) => {
        #[allow(dead_code, unused_imports, non_snake_case, clippy::missing_safety_doc, clippy::too_many_arguments)]
        mod real {
            use super::*;
            use crate::interpose::real::{Real, name};
            $(
                #[inline]
                pub unsafe fn $name($($argument: $type),*) $(-> $result)? {
                    // SAFETY: libc's function of this name has this type.
                    unsafe {
                        let real: unsafe extern "C" fn($($type),*) $(-> $result)? =
                            core::mem::transmute(addresses::$name.address());
                        real($($argument),*)
                    }
                }
            )*
            #[allow(non_upper_case_globals)]
            pub mod addresses {
                use super::{Real, name};
                $(pub static $name: Real = Real::new(name(concat!(stringify!($name), "\0").as_bytes()));)*
            }
        }

        pub(super) fn look_up() {
            $(real::addresses::$name.look_up();)*
        }
    };
}
