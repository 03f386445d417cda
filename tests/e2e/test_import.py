"""`detent sessions import`: a session of another program is gone on with in ours."""

from __future__ import annotations

import json
import os
from pathlib import Path

from detent.testing import reply

from .conftest import BOTH_WIRES, Runner

SESSION = "1d2f0c7e-9a41-4c53-8c1b-7d6f1a2b3c4d"
OTHER = "2d2f0c7e-9a41-4c53-8c1b-7d6f1a2b3c4d"


def transcript(runner: Runner, session: str = SESSION) -> Path:
    def line(number: int, kind: str, content: object, **more: object) -> str:
        message: dict[str, object] = {"role": kind, "content": content}
        if kind == "assistant":
            usage = {"input_tokens": 100, "output_tokens": 10}
            message |= {"id": f"msg_{number}", "model": "claude-opus-4-1", "usage": usage}
        return json.dumps(
            {
                "parentUuid": f"u{number - 1}" if number > 1 else None,
                "type": kind,
                "uuid": f"u{number}",
                "timestamp": f"2026-03-01T10:00:0{number}Z",
                "sessionId": session,
                "cwd": str(runner.work),
                "version": "2.1.3",
                "message": message,
                **more,
            }
        )

    thinking = {"type": "thinking", "thinking": "secret thoughts", "signature": "foreign"}
    use = {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "rm -rf /"}}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "the result"}
    folder = runner.home / ".claude" / "projects" / "-work"
    (folder / session / "subagents").mkdir(parents=True)
    (folder / session / "subagents" / "agent-1.jsonl").write_text("{}\n")
    (folder / "notes.txt").write_text("not a session")
    file = folder / f"{session}.jsonl"
    file.write_text(
        "\n".join(
            [
                json.dumps({"type": "summary", "summary": "Clean up", "leafUuid": "u4"}),
                line(1, "user", "clean up"),
                line(2, "assistant", [thinking, use]),
                line(3, "user", [result]),
                line(4, "assistant", [{"type": "text", "text": "It is clean."}]),
                json.dumps({"type": "file-history-snapshot"}),
            ]
        )
    )
    return file


@BOTH_WIRES
def test_it_is_resumed_with_any_model(runner: Runner, wire: str) -> None:
    runner.serve(reply("Still clean."))
    file = transcript(runner)
    ran = runner.run("sessions", "import", str(file))
    assert ran.code == 0, ran
    assert ran.stdout == (
        f"{SESSION}  imported  1 prompt, 2 answers  {runner.work}; "
        "left out: file-history-snapshot: 1\n"
    )
    ran = runner.run("-p", "and now?", "-r", SESSION)
    assert (ran.code, ran.stdout) == (0, "Still clean.\n")
    (request,) = runner.requests
    text = json.dumps(request.json)
    assert all(part in text for part in ("clean up", "rm -rf /", "the result", "It is clean."))
    assert "foreign" not in text, "what another provider has signed is not for this one"
    assert [said.role for said in request.talk if said.role != "system"][-1] == "user"


def test_its_name_its_time_and_its_cost_come_along(runner: Runner) -> None:
    transcript(runner)
    folder = runner.home / ".claude"
    assert runner.run("sessions", "import", str(folder)).code == 0
    (log,) = runner.logs
    assert log.stat().st_mtime == 1_772_359_204.0
    assert oct(log.stat().st_mode & 0o777) == "0o600"
    text = runner.run("sessions", "export", "Clean up").stdout
    assert text.startswith("# Clean up\n")
    assert "| models | claude-opus-4-1 |" in text and "| tokens | 220, 20 of them" in text
    assert "2026-03-01 10:00:01 UTC" in text


def test_twice_is_once(runner: Runner) -> None:
    file = transcript(runner)
    runner.run("sessions", "import", str(file))
    before = runner.logs[0].read_bytes()
    ran = runner.run("sessions", "import", str(file))
    assert ran.code == 0 and f"{SESSION}  here already" in ran.stdout
    assert [log.read_bytes() for log in runner.logs] == [before]


def test_a_trial_writes_nothing(runner: Runner) -> None:
    ran = runner.run("sessions", "import", str(transcript(runner)), "--dry-run")
    assert ran.code == 0 and f"{SESSION}  would be imported" in ran.stdout
    assert runner.logs == []


def test_one_that_cannot_be_read_does_not_keep_the_others_out(runner: Runner) -> None:
    good = transcript(runner)
    good.with_name(f"{OTHER}.jsonl").write_text("\x1b[31mrubbish\n")
    ran = runner.run("sessions", "import", str(good.parent))
    assert ran.code == 1
    assert ran.stdout.count("\n") == 1 and "imported" in ran.stdout
    assert f"{OTHER}.jsonl: there is no conversation in it" in ran.stderr


def test_for_programs_it_is_an_object_per_file(runner: Runner) -> None:
    ran = runner.run("sessions", "import", str(transcript(runner)), "--json")
    found = json.loads(ran.stdout)
    assert (found["status"], found["session"], found["answers"]) == ("imported", SESSION, 2)


def test_what_is_not_there_is_told(runner: Runner) -> None:
    ran = runner.run("sessions", "import", "nowhere")
    assert ran.code == 2 and "there is no nowhere" in ran.stderr
    assert runner.run("sessions", "import").code == 2
    ran = runner.run("sessions", "import", str(runner.work))
    assert ran.code == 1 and "no transcripts" in ran.stderr


def test_a_pipe_is_not_waited_for(runner: Runner) -> None:
    pipe = runner.folder / f"{SESSION}.jsonl"
    os.mkfifo(pipe)
    ran = runner.run("sessions", "import", str(pipe))
    assert ran.code == 1 and "it is no file" in ran.stderr


def test_a_full_disk_leaves_no_half_of_a_session(runner: Runner) -> None:
    """A limit on file sizes stands in for the disk; the index is beside the point."""
    file = transcript(runner)
    ran = runner.run("sessions", "import", str(file), shell="trap '' XFSZ && ulimit -f 0")
    assert ran.code == 1, ran
    assert "File too large" in ran.stderr
    assert runner.logs == [] and not list(runner.state.rglob("*.partial"))
