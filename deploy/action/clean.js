// What both ends of a job have in common: one clean, its result in the job's summary. Node's own modules only.
"use strict";
const { spawnSync } = require("node:child_process");
const fs = require("node:fs");

function append(variable, line) {
  const file = process.env[variable];
  if (file) fs.appendFileSync(file, line + "\n");
}

// An input that nobody set is empty: GitHub fills in the defaults of action.yml.
const input = (name) => process.env["INPUT_" + name.toUpperCase()] || "";

function clean(tmpwarden, when) {
  const words = ["clean", "--yes", "--json", ...input("arguments").split(/\s+/).filter(Boolean)];
  const ran = spawnSync(tmpwarden, words, { encoding: "utf8" });
  let answer = {};
  try {
    answer = JSON.parse(ran.stdout);
  } catch {
    // told below: a failed clean must not fail somebody's job
  }
  if (!answer.ok) {
    console.log(`::warning title=tmpwarden::${answer.error?.message || ran.stderr || ran.error || "clean failed"}`);
    return 0;
  }
  const freed = answer.data.freed_bytes;
  const said = `tmpwarden, ${when} the job: ${answer.data.removed.length} removed, ${freed} bytes freed`;
  console.log(said);
  append("GITHUB_STEP_SUMMARY", said);
  return freed;
}

module.exports = { append, clean, input };
