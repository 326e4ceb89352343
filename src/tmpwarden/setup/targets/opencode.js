// __MARK__: a scratch directory for each session, nothing left of ended ones.
// Written by `tmpwarden install opencode`.
import { spawn } from "node:child_process"
import { existsSync } from "node:fs"
const PYTHON = __PYTHON__, SCRIPT = __SCRIPT__, FLAGS = __FLAGS__
// What a project sets in the environment does not tell where our settings lie, nor switch the guard off.
const PLACES = __PLACES__, JUDGING = { TMPWARDEN_DISABLE: "" }
const UNJUDGED = { message: "tmpwarden was killed or could not start, so this call was not checked" }
const ask = (event, payload) => new Promise((done) => {
  if (!existsSync(PYTHON) || !existsSync(SCRIPT)) return done({})
  const env = { ...process.env, TMPWARDEN_SHELL_HOME: process.env.HOME ?? "", ...PLACES, ...(event === "tool.execute.before" ? JUDGING : {}) }
  const child = spawn(PYTHON, ["-I", "-S", SCRIPT, "opencode", event, ...FLAGS], { stdio: ["pipe", "pipe", "ignore"], env })
  let said = ""
  const end = (status) => { try { done(JSON.parse(said)) } catch { done(status === 0 ? {} : UNJUDGED) } }
  const late = setTimeout(() => { child.kill(); done(UNJUDGED) }, 10000)
  child.stdout.on("data", (part) => { said += part })
  child.on("error", () => done(UNJUDGED)).on("close", (status) => { clearTimeout(late); end(status) })
  child.stdin.on("error", () => {}).end(JSON.stringify({ ...payload, pid: process.pid }))
})
export const Tmpwarden = async ({ directory }) => {
  const scratch = new Map(), untold = new Map()
  const start = (sessionID) => {
    if (!scratch.has(sessionID)) scratch.set(sessionID, ask("shell.env", { input: { sessionID }, cwd: directory }))
    return scratch.get(sessionID)
  }
  return {
    "experimental.chat.system.transform": async (input, output) => {
      const context = input.sessionID && (await start(input.sessionID)).context
      if (context) output.system.push(context)
    },
    "shell.env": async (input, output) => {
      Object.assign(output.env, (await start(input.sessionID)).env ?? {})
    },
    "tool.execute.before": async (input, output) => {
      const said = await ask("tool.execute.before", { input, output, cwd: process.cwd() })
      if (said.deny) throw new Error(said.deny)
      if (said.message) untold.set(input.callID, said.message)
      if (said.args) Object.assign(output.args, said.args)
    },
    "tool.execute.after": async (input, output) => {
      const more = untold.get(input.callID)
      if (more && typeof output?.output === "string") output.output += "\n" + more
      untold.delete(input.callID)
      await ask("tool.execute.after", { input: { ...input, args: {} } })
    },
    dispose: async () => { for (const sessionID of scratch.keys()) await ask("dispose", { input: { sessionID } }) },
  }
}
