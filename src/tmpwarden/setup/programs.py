"""Which agent a command belongs to. Apart from the targets: `tmpwarden run` asks before every command."""

AGENT_OF = {
    "claude": "claude",
    "codex": "codex",
    "gemini": "gemini",
    "copilot": "copilot",
    "opencode": "opencode",
    "qwen": "qwen",
}
