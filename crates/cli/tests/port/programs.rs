//! Which files are one program, and where repaired ones go.

use super::{MP, clang, port, schema, scratch, text, write};
use serde_json::Value;
use std::path::Path;

#[test]
fn directories_and_compile_commands() {
    if !clang() {
        return;
    }
    // Threads in one file, what they do in another.
    let folder = scratch("directory");
    let (body, main) = MP.split_once("int main").expect("has a main");
    let body = body.replace("static void *", "void *");
    write(&folder, "body.c", &body);
    let declarations = "typedef unsigned long pthread_t;\nint pthread_create(pthread_t *, const void *, void *(*)(void *), void *);\nvoid *writer(void *), *reader(void *);\nint main";
    write(&folder, "start.c", &format!("{declarations}{main}"));
    let asked = ["--from", "x86", "--to", "armv8", "--format", "json"];
    let answer = |path: &str| -> serde_json::Value {
        let out = port(&[&asked[..], &[path]].concat());
        assert_eq!(out.status.code(), Some(1), "{}", text(&out.stderr));
        schema::answer(&text(&out.stdout))
    };
    let whole = answer(&folder.display().to_string());
    assert_eq!(whole["pairs"].as_array().map(Vec::len), Some(2));
    let commands = serde_json::json!([
        {"directory": folder, "file": "body.c", "arguments": ["cc", "-c", "-DUNUSED", "body.c"]},
        {"directory": folder, "file": "start.c", "command": "cc -c start.c"},
    ]);
    let database = write(&folder, "compile_commands.json", &commands.to_string());
    assert_eq!(answer(&database)["pairs"].as_array().map(Vec::len), Some(2));
}

/// The two files of a program: what threads do, and what starts them.
fn halves() -> (String, String) {
    let (body, main) = MP.split_once("int main").expect("has a main");
    let declarations = "typedef unsigned long pthread_t;\nint pthread_create(pthread_t *, const void *, void *(*)(void *), void *);\nvoid *writer(void *), *reader(void *);\nint main";
    (body.replace("static void *", "void *"), format!("{declarations}{main}"))
}

/// The answers, by what is called `file`.
fn ask(paths: &[&str]) -> Vec<(String, Vec<String>, String)> {
    let out = port(&[&["--from", "x86", "--to", "armv8", "--format", "json"], paths].concat());
    assert!(out.stderr.is_empty(), "{}", text(&out.stderr));
    let shown = text(&out.stdout);
    let answers = shown.lines().map(schema::answer);
    let name = |path: &Value| {
        let path = path.as_str().expect("a path");
        Path::new(path).file_name().expect("a name").to_string_lossy().into_owned()
    };
    answers
        .map(|answer| {
            let files = answer["files"].as_array().expect("a list").iter().map(name).collect();
            (name(&answer["file"]), files, answer["verdict"].as_str().expect("a word").to_owned())
        })
        .collect()
}

#[test]
fn files_that_are_named_together_are_one_program() {
    if !clang() {
        return;
    }
    let folder = scratch("together");
    let (body, main) = halves();
    let (body, main) = (write(&folder, "body.c", &body), write(&folder, "start.c", &main));
    let files = vec!["start.c".to_owned(), "body.c".to_owned()];
    let one = vec![("start.c".to_owned(), files, "not-robust".to_owned())];
    assert_eq!(ask(&[&body, &main]), one.clone());
    let shown = text(&port(&["--from", "x86", "--to", "armv8", &body, &main]).stdout);
    assert!(shown.contains(&format!("  files: {main}, {body}\n")), "{shown}");
    // One with a `main` each, which the file without one belongs to both times.
    let other = write(
        &folder,
        "other.c",
        "/* int domain(void) */\nvoid *writer(void *), *reader(void *);\nint pthread_create(unsigned long *, const void *, void *(*)(void *), void *);\nint main(void) { unsigned long t; return pthread_create(&t, 0, writer, 0); }\n",
    );
    let answers = ask(&[&body, &main, &other]);
    let programs: Vec<(&str, usize)> =
        answers.iter().map(|(file, files, _)| (&**file, files.len())).collect();
    assert_eq!(programs, [("start.c", 2), ("other.c", 2)]);
    // A build of several programs as well.
    let entry = |file: &str| serde_json::json!({"directory": folder, "file": file, "command": format!("cc -c {file}")});
    let commands: Vec<Value> = ["body.c", "start.c", "other.c"].map(entry).to_vec();
    let database = write(&folder, "compile_commands.json", &Value::from(commands).to_string());
    let answers = ask(&[&database]);
    let programs: Vec<(&str, usize)> =
        answers.iter().map(|(file, files, _)| (&**file, files.len())).collect();
    assert_eq!(programs, [("start.c", 2), ("other.c", 2)]);
}

#[test]
fn directories_are_read_with_those_in_them() {
    if !clang() {
        return;
    }
    let folder = scratch("nested");
    let (body, main) = halves();
    let inner = folder.join("src/deep");
    std::fs::create_dir_all(&inner).expect("can be made");
    for apart in [".git", "CMakeFiles"] {
        std::fs::create_dir_all(folder.join(apart)).expect("can be made");
        write(&folder.join(apart), "not-ours.c", "int main(void) { return 0; }");
    }
    let _ = std::os::unix::fs::symlink("..", inner.join("round"));
    write(&inner, "body.c", &body);
    write(&folder, "start.c", &main);
    let answers = ask(&[&folder.display().to_string()]);
    assert_eq!(answers.len(), 1, "{answers:?}");
    assert_eq!(answers[0].1, ["start.c", "body.c"]);
    assert_eq!(answers[0].2, "not-robust");
}

#[test]
fn files_of_several_programs_are_no_program() {
    if !clang() {
        return;
    }
    let folder = scratch("twice");
    let one = write(&folder, "one.c", "int x; void put(int v) { x = v; }\n");
    let two = write(&folder, "two.c", "int y; void put(int v) { y = v; }\n");
    let out = port(&["--from", "x86", "--to", "armv8", "--client", &one, &two]);
    assert_eq!(out.status.code(), Some(2), "{}", text(&out.stdout));
    let said = text(&out.stderr);
    assert!(said.starts_with(&two) && said.contains("`put` is defined here and in"), "{said}");
    assert!(out.stdout.is_empty());
}

#[test]
fn the_directory_for_repaired_files_is_made() {
    if !clang() {
        return;
    }
    let folder = scratch("made");
    let path = write(&folder, "mp.c", MP);
    let into = folder.join("new/deep");
    let ways = ["--from", "x86", "--to", "armv8", "--fix", "-o"];
    let to = into.display().to_string();
    let bad = port(&[&ways[..], &[&to, &write(&folder, "bad.c", "int main(void) { return 0 }\n")]].concat());
    assert_eq!(bad.status.code(), Some(2));
    assert!(!into.exists(), "nothing is written before all is read");
    let out = port(&[&ways[..], &[&to, &path]].concat());
    assert_eq!(out.status.code(), Some(1), "{}", text(&out.stderr));
    assert!(into.join("mp.armv8.ll").is_file() && into.join("mp.armv8.patch").is_file());
    // A file in its place is one that has to go.
    let out = port(&[&ways[..], &[&format!("{path}/new"), &path]].concat());
    assert_eq!(out.status.code(), Some(2));
    assert!(text(&out.stderr).contains("mp.c is no directory"), "{}", text(&out.stderr));
}

/// Files of the same name in several directories.
#[test]
fn repaired_files_have_names_of_their_own() {
    if !clang() {
        return;
    }
    let folder = scratch("names");
    let (_, main) = halves();
    let thread = |function: &str, text: &str| {
        format!("extern _Atomic(int) data, flag;\nvoid *{function}(void *unused) {{\n{text}\n}}\n")
    };
    let part = |of: &str, to: &str| {
        let (_, from) = MP.split_once(of).expect("is there");
        from.split_once(to).expect("is there").0.to_owned()
    };
    let writer = part("*writer(void *unused) {\n", "\n}");
    let reader = part("*reader(void *unused) {\n", "\n}");
    for (place, function, body) in [("a", "writer", &writer), ("b", "reader", &reader)] {
        std::fs::create_dir_all(folder.join(place)).expect("can be made");
        write(&folder.join(place), "part.c", &thread(function, body));
    }
    write(&folder, "start.c", &format!("_Atomic(int) data, flag;\n{main}"));
    let into = folder.join("out").display().to_string();
    let from = folder.display().to_string();
    let out = port(&["--from", "x86", "--to", "armv8", "--fix", "-o", &into, "--format", "json", &from]);
    let answer = schema::answer(&text(&out.stdout));
    let written: Vec<&str> = answer["written"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|path| path.as_str().expect("a path"))
        .collect();
    assert_eq!(written.len(), 3, "{answer}");
    assert!(written.iter().all(|path| Path::new(path).is_file()));
    assert!(written[1].ends_with("part.2.armv8.ll"), "{written:?}");
}
