// lease.ts SESSION COMMAND...: run one agent with a temp directory of its own, and say what became of it. Complete.
import { spawnSync } from "node:child_process";

type Answer<T> = { ok: boolean; data: T; error: { code: string; message: string; suggestion: string } | null };
type Lease = { path: string; session: string; pid: number; start: number; env: Record<string, string> };
type Closed = { released: boolean; removed: { path: string }[]; kept: { path: string; reason: string }[] };

function tmpwarden<T>(...words: string[]): T {
  const answer: Answer<T> = JSON.parse(spawnSync("tmpwarden", [...words, "--json"], { encoding: "utf8" }).stdout);
  if (!answer.ok) throw new Error(`${answer.error?.code}: ${answer.error?.message}`);
  return answer.data;
}

const [session, command, ...words] = process.argv.slice(2);
const owner = ["--session", session, "--pid", String(process.pid)]; // if we crash, the next clean-up does the rest
const lease = tmpwarden<Lease>("lease", "open", "--agent", "claude", ...owner);
const agent = spawnSync(command, words, { env: { ...process.env, ...lease.env }, stdio: "inherit" });
const closed = tmpwarden<Closed>("lease", "close", ...owner, "--start", String(lease.start));
console.log(JSON.stringify({ status: agent.status, removed: closed.removed.map((each) => each.path), kept: closed.kept }));
process.exitCode = agent.status ?? 1;
