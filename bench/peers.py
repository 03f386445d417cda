"""Other agents, measured when they are on PATH.

Command lines are those of late 2026 and change with the products; a peer that fails is shown with
a dash, never counted. Updates and telemetry are off, keys are dummies.
"""

from __future__ import annotations

import json
import shutil

from contestants import CHAT_ENV, EVERYTHING, MESSAGES_ENV, Contestant
from scenarios import Tool

CODEX_PROVIDER = (
    'model_providers.bench={name="bench",base_url="{url}/v1",'
    'env_key="OPENAI_API_KEY",wire_api="responses"}'
)
MODEL = "claude-sonnet-4-5"
OPENCODE_CONFIG = {
    "model": f"anthropic/{MODEL}",
    "small_model": f"anthropic/{MODEL}",
    "autoupdate": False,
    "share": "disabled",
    "permission": {"bash": "allow", "edit": "allow"},
    "provider": {"anthropic": {"options": {"baseURL": "{url}/v1", "apiKey": "x"}}},
}
PEERS = [
    Contestant(
        "claude",
        ["claude"],
        ["-p", "go", "--dangerously-skip-permissions", "--max-turns", "1000"],
        {
            **MESSAGES_ENV,
            "ANTHROPIC_MODEL": MODEL,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "IS_SANDBOX": "1",  # else it refuses to skip permissions as root
        },
        text_options=("--output-format", "text"),
        json_options=("--output-format", "json"),
    ),
    Contestant(
        "codex",
        ["codex"],
        [
            *("exec", "--dangerously-bypass-approvals-and-sandbox", "-m", "gpt-5-codex"),
            *("-c", "model_provider=bench", "-c", CODEX_PROVIDER, "go"),
        ],
        {"OPENAI_API_KEY": "x"},
        "responses",
        Tool("exec_command", "cmd"),
    ),
    Contestant(
        "pi",
        ["pi"],
        ["-p", "--provider", "anthropic", "--model", MODEL, "go"],
        {"ANTHROPIC_API_KEY": "x", "PI_OFFLINE": "1"},
        tool=Tool("bash"),
        files={
            ".pi/agent/models.json": json.dumps({"providers": {"anthropic": {"baseUrl": "{url}"}}})
        },
    ),
    Contestant(
        "opencode",
        ["opencode"],
        ["run", "go"],
        {"OPENCODE_DISABLE_AUTOUPDATE": "1"},
        tool=Tool("bash", extra=(("description", "bench"),)),
        files={".config/opencode/opencode.json": json.dumps(OPENCODE_CONFIG)},
    ),
    Contestant(
        "gemini",
        ["gemini"],
        ["--yolo", "-m", "gemini-2.5-pro", "-p", "go"],
        {"GEMINI_API_KEY": "x", "GOOGLE_GEMINI_BASE_URL": "{url}"},
        "gemini",
        Tool("run_shell_command"),
        files={".gemini/settings.json": json.dumps({"usageStatisticsEnabled": False})},
    ),
    Contestant(
        "aider",
        ["aider"],
        [
            *("--message", "go", "--yes-always", "--no-git", "--no-pretty", "--stream"),
            *("--no-check-update", "--analytics-disable", "--no-show-model-warnings"),
            *("--model", "openai/gpt-bench"),
        ],
        {**CHAT_ENV, "OPENAI_API_BASE": "{url}/v1"},
        "chat",
        Tool(name=""),
        plays=frozenset({"startup", "stream"}),
    ),
]
assert all(peer.plays <= EVERYTHING for peer in PEERS)


def present() -> list[Contestant]:
    return [peer for peer in PEERS if shutil.which(peer.program[0])]
