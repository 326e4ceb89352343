"""What each event of an agent means to us, from catalogue/agents. Made by `make generate`; do not edit."""

MOMENTS: "dict[str, str]" = {
    "SessionStart": "start",
    "SubagentStart": "guide",
    "PostToolUse": "after",
    "PostToolUseFailure": "after",
    "PostToolBatch": "after",
    "Stop": "stop",
    "SessionEnd": "end",
    "PreToolUse": "before",
    "sessionStart": "start",
    "postToolUse": "after",
    "agentStop": "stop",
    "sessionEnd": "end",
    "preToolUse": "before",
    "AfterTool": "after",
    "AfterAgent": "stop",
    "BeforeTool": "before",
    "shell.env": "start",
    "tool.execute.after": "after",
    "dispose": "end",
    "tool.execute.before": "before",
}
