//! Static libraries, shared libraries, libraries loaded at run time.

use crate::{DEKKER, Folder, compilers};

/// The threads in a library, `main` elsewhere.
fn parts() -> (String, &'static str) {
    (
        DEKKER.replace("int main(void)", "int dekker(void)"),
        "int dekker(void);\nint main(void) { return dekker(); }\n",
    )
}

const LOADER: &str = "\
#include <dlfcn.h>
#include <stdio.h>
int main(int count, char **names) {
    for (int i = 1; i < count; i++) {
        void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
        if (!library) return fprintf(stderr, \"%s\\n\", dlerror()), 3;
        int (*dekker)(void) = (int (*)(void))dlsym(library, \"dekker\");
        if (!dekker) return 4;
        dekker();
        dlclose(library);
    }
    return 0;
}
";

#[test]
fn a_static_library() {
    let (library, main) = parts();
    for compiler in compilers() {
        let folder =
            Folder::new(&format!("static-{compiler}")).with("dekker.c", &library).with("main.c", main);
        folder.seqcst(compiler, &["cc", "-c", "-O1", "dekker.c"]).ends(0);
        folder.tool("ar", &["rcs", "libdekker.a", "dekker.o"]).ends(0);
        folder.seqcst(compiler, &["cc", "main.c", "-L.", "-ldekker", "-o", "main"]).ends(0);
        folder.finds_dekker("main", &[]);
    }
}

#[test]
fn a_shared_library() {
    let (library, main) = parts();
    for compiler in compilers() {
        let folder =
            Folder::new(&format!("shared-{compiler}")).with("dekker.c", &library).with("main.c", main);
        // Even if the linker shall find everything: what instrumented code calls is in the executable.
        for strict in [&[][..], &["-Wl,-z,defs"], &["-Wl,--no-undefined"]] {
            let args = ["cc", "-shared", "-fPIC", "-O1", "dekker.c", "-o", "libdekker.so"];
            folder.seqcst(compiler, &[&args, strict].concat()).ends(0);
        }
        let names = folder.tool("nm", &["-D", "--defined-only", "libdekker.so"]).ends(0).stdout();
        assert!(!names.contains("tsan"), "the runtime is in the executable alone:\n{names}");
        folder.seqcst(compiler, &["cc", "main.c", "-L.", "-ldekker", "-Wl,-rpath,.", "-o", "main"]).ends(0);
        folder.finds_dekker("main", &[]);
    }
}

#[test]
fn a_library_loaded_at_run_time() {
    let (library, _) = parts();
    for compiler in compilers() {
        let folder =
            Folder::new(&format!("dlopen-{compiler}")).with("dekker.c", &library).with("load.c", LOADER);
        folder.seqcst(compiler, &["cc", "-shared", "-fPIC", "-O1", "dekker.c", "-o", "dekker.so"]).ends(0);
        for flags in [&[][..], &["-Wl,--gc-sections", "-Wl,--as-needed"]] {
            folder.seqcst(compiler, &[&["cc", "load.c", "-ldl", "-o", "load"], flags].concat()).ends(0);
            folder.finds_dekker("load", &["./dekker.so"]);
        }
    }
}

#[test]
fn a_library_of_the_user_may_replace_malloc() {
    let text = "\
#include <stddef.h>
static char memory[1 << 20];
static size_t used;
int calls;
void *malloc(size_t n) { calls++; used = (used + 15) & ~(size_t)15; used += n; return memory + used - n; }
void free(void *p) { (void)p; }
";
    let main = "\
#include <stdlib.h>
extern int calls;
int main(void) { int before = calls; void *volatile p = malloc(9); free(p); return calls > before ? 0 : 1; }
";
    for compiler in compilers() {
        let folder = Folder::new(&format!("malloc-{compiler}")).with("malloc.c", text).with("main.c", main);
        folder.seqcst(compiler, &["cc", "-fno-builtin", "main.c", "malloc.c", "-o", "main"]).ends(0);
        folder.run("main", &[]).finds_nothing();
    }
}
