// lease.rs SESSION COMMAND...: run one agent with a temp directory of its own. Complete, and without a JSON library:
// without --json, `lease open` prints the path and nothing else.
use std::env;
use std::process::{exit, id, Command};

fn tmpwarden(words: &[&str]) -> String {
    let said = Command::new("tmpwarden").args(words).output().expect("tmpwarden is not installed");
    if !said.status.success() {
        panic!("{}", String::from_utf8_lossy(&said.stderr));
    }
    String::from_utf8(said.stdout).expect("a path in UTF-8")
}

fn main() {
    let words: Vec<String> = env::args().collect();
    let (session, me) = (&words[1], id().to_string()); // if we crash, the next clean-up does the rest
    let opened = tmpwarden(&["lease", "open", "--agent", "claude", "--session", session, "--pid", &me]);
    let scratch = opened.trim_end_matches('\n');
    let status = Command::new(&words[2])
        .args(&words[3..])
        .envs([("TMPDIR", scratch), ("TMP", scratch), ("TEMP", scratch)])
        .status();
    print!("{}", tmpwarden(&["lease", "close", "--session", session, "--pid", &me]));
    exit(status.expect("the agent did not start").code().unwrap_or(1));
}
