//! C and C++ programs with known verdicts, through every compiler.

use crate::{Folder, compilers, cxx, eventually, is_installed};

/// Message passing, with the orderings as macros.
const MESSAGE: &str = "\
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
static int data;
static atomic_int flag;
static void *send(void *p) {
    data = 42;
    atomic_store_explicit(&flag, 1, STORE);
    return p;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, send, NULL);
    while (!atomic_load_explicit(&flag, LOAD)) {}
    int got = data;
    pthread_join(thread, NULL);
    return got == 42 ? 0 : 1;
}
";

#[test]
fn message_passing() {
    let ways = [("release", "acquire", false), ("relaxed", "acquire", true), ("release", "relaxed", true)];
    for compiler in compilers() {
        let folder = Folder::new(&format!("message-{compiler}")).with("message.c", MESSAGE);
        for (store, load, races) in ways {
            let store = format!("-DSTORE=memory_order_{store}");
            let load = format!("-DLOAD=memory_order_{load}");
            folder.seqcst(compiler, &["cc", "-O1", &store, &load, "message.c", "-o", "message"]).ends(0);
            let run = folder.run("message", &[]);
            if races {
                run.says("data race").says("message.c:7").says("message.c:15").ends(66);
            } else {
                run.finds_nothing();
            }
        }
    }
}

/// Threads, exceptions through frames, `thread_local`, a static with a constructor, a lock.
const CXX: &str = "\
#include <atomic>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>
static std::mutex lock;
static long total;
thread_local std::string name = \"nobody\";
static int deep(int n) {
    if (n == 0) throw std::runtime_error(name);
    return deep(n - 1) + 1;
}
static const std::string &greeting() {
    static const std::string text = \"hello\";
    return text;
}
#ifdef WEAK
static std::atomic<int> x, y;
static int a, b;
#endif
int main() {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++)
        threads.emplace_back([i] {
            name = \"thread \" + std::to_string(i);
            for (int k = 0; k < 50; k++) {
                try {
                    deep(5);
                } catch (const std::exception &e) {
                    std::lock_guard<std::mutex> guard(lock);
                    total += (e.what() == name) + (greeting().size() == 5);
                }
            }
        });
    for (auto &t : threads) t.join();
#ifdef WEAK
    std::thread one([] { x.store(1, std::memory_order_release); a = y.load(std::memory_order_acquire); });
    std::thread two([] { y.store(1, std::memory_order_release); b = x.load(std::memory_order_acquire); });
    one.join();
    two.join();
#endif
    return total == 400 ? 0 : 1;
}
";

#[test]
fn cxx_programs() {
    for compiler in compilers().into_iter().filter(|compiler| is_installed(&cxx(compiler))) {
        let folder = Folder::new(&format!("cxx-{compiler}")).with("program.cc", CXX);
        for flags in [&["-O0"][..], &["-O2", "-flto"]] {
            folder.seqcst(compiler, &[&["c++", "program.cc", "-o", "strong"], flags].concat()).ends(0);
            folder.run("strong", &[]).finds_nothing();
            folder
                .seqcst(compiler, &[&["c++", "-DWEAK", "program.cc", "-o", "weak"], flags].concat())
                .ends(0);
            eventually(|| folder.run("weak", &[])).says("stale").says("program.cc:").ends(66);
        }
    }
}
