//! make, CMake and autoconf, with small projects: a library, a program, a test.

use crate::{DEKKER, Folder, eventually, needs};

fn library() -> String {
    DEKKER.replace("int main(void)", "int dekker(void)")
}

const MAIN: &str = "int dekker(void);\nint main(void) { return dekker(); }\n";

#[test]
fn make() {
    if !needs("make") {
        return;
    }
    let makefile = "\
CFLAGS = -O1
main: main.o libdekker.a
\t$(CC) $(LDFLAGS) $^ -o $@
libdekker.a: dekker.o
\t$(AR) rcs $@ $^
check: main
\t./main
";
    let folder =
        Folder::new("make").with("Makefile", makefile).with("dekker.c", library()).with("main.c", MAIN);
    for cc in ["CC=seqcst cc", "CC=seqcst-cc"] {
        folder.tool("make", &["-B", cc]).ends(0);
        folder.finds_dekker("main", &[]);
        folder.tool("make", &["-B", cc, "CFLAGS=-O1 -DFENCED"]).ends(0);
        folder.run("main", &[]).finds_nothing();
    }
    let check = eventually(|| folder.tool("make", &["-B", "CC=seqcst-cc", "check"])).says("stale");
    assert_ne!(check.code(), Some(0));
}

#[test]
fn cmake() {
    if !needs("cmake") || !needs("make") || !needs("c++") {
        return;
    }
    let project = "\
cmake_minimum_required(VERSION 3.13)
project(dekker C CXX)
include(CheckCSourceCompiles)
check_c_source_compiles(\"#include <stdatomic.h>\\nint main(void) { atomic_int x = 0; return atomic_load(&x); }\" HAVE_ATOMICS)
if(NOT HAVE_ATOMICS)
  message(FATAL_ERROR \"no atomics\")
endif()
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
add_library(dekker SHARED dekker.c)
target_link_libraries(dekker PRIVATE Threads::Threads)
target_link_options(dekker PRIVATE -Wl,--no-undefined)
add_library(other STATIC other.cc)
add_executable(main main.c)
target_link_libraries(main dekker other)
set_property(TARGET dekker main PROPERTY INTERPROCEDURAL_OPTIMIZATION ${IPO})
";
    let folder =
        Folder::new("cmake").with("CMakeLists.txt", project).with("dekker.c", library()).with("main.c", MAIN);
    let folder = folder.with("other.cc", "extern \"C\" int other() { return 0; }\n");
    for (build, ipo) in [("plain", "OFF"), ("lto", "ON")] {
        let compilers = ["-DCMAKE_C_COMPILER=seqcst-cc", "-DCMAKE_CXX_COMPILER=seqcst-cxx"];
        let ipo = format!("-DIPO={ipo}");
        let kind = ["-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-GUnix Makefiles", &ipo];
        folder.tool("cmake", &[&["-S", ".", "-B", build], &compilers[..], &kind].concat()).ends(0);
        folder.tool("cmake", &["--build", build]).ends(0);
        folder.finds_dekker(&format!("{build}/main"), &[]);
    }
}

#[test]
fn autoconf() {
    if !needs("autoconf") || !needs("make") {
        return;
    }
    let configure = "\
AC_INIT([dekker], [1.0])
AC_CONFIG_SRCDIR([main.c])
AC_PROG_CC
AC_CHECK_HEADERS([stdatomic.h pthread.h], [], [AC_MSG_ERROR([missing])])
AC_CHECK_LIB([m], [cos])
AC_CHECK_FUNCS([pthread_create malloc])
AC_C_INLINE
AC_CONFIG_FILES([Makefile])
AC_OUTPUT
";
    let makefile = "\
CC = @CC@
CFLAGS = @CFLAGS@ @DEFS@
LIBS = @LIBS@
main: main.o dekker.o
\t$(CC) $(CFLAGS) main.o dekker.o $(LIBS) -o main
";
    let folder = Folder::new("autoconf").with("configure.ac", configure).with("Makefile.in", makefile);
    let folder = folder.with("dekker.c", library()).with("main.c", MAIN);
    folder.tool("autoconf", &[]).ends(0);
    folder.tool("sh", &["./configure", "CC=seqcst cc"]).ends(0);
    folder.tool("make", &[]).ends(0);
    folder.finds_dekker("main", &[]);
}
