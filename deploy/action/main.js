// Installs tmpwarden from this very checkout of the action into the runner's temp directory, and cleans.
"use strict";
const { spawnSync } = require("node:child_process");
const path = require("node:path");
const { append, clean, input } = require("./clean.js");

function run(program, ...words) {
  const ran = spawnSync(program, words, { stdio: "inherit" });
  if (ran.status !== 0) {
    console.log(`::error title=tmpwarden::${path.basename(program)} ${words.join(" ")} failed`);
    process.exit(1);
  }
}

const venv = path.join(process.env.RUNNER_TEMP, "tmpwarden");
const bin = path.join(venv, "bin");
run(input("python"), "-m", "venv", venv);
run(path.join(bin, "pip"), "install", "--quiet", "--disable-pip-version-check", path.resolve(__dirname, "..", ".."));
const tmpwarden = path.join(bin, "tmpwarden");
append("GITHUB_OUTPUT", `tmpwarden=${tmpwarden}`);
append("GITHUB_STATE", `tmpwarden=${tmpwarden}`);
if (input("before") === "true") append("GITHUB_OUTPUT", `freed-bytes=${clean(tmpwarden, "before")}`);
