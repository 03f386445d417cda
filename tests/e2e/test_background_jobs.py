"""Jobs and floods of output, with the installed command: nothing is lost, nothing stays."""

from __future__ import annotations

import os
import re
import secrets
import time
from pathlib import Path
from typing import Any

import pytest

from detent.testing import Request, call, reply

from .conftest import PATIENCE, Live, Runner

FREELY = ("--permission-mode", "bypassPermissions")
MANY = 300
"""Steps within which a model must have heard of a job that has ended."""

SERVER = """python3 -u -c "
import http.server as h, os
s = h.HTTPServer(('127.0.0.1', 0), h.SimpleHTTPRequestHandler)
open('new', 'w').write(str(s.server_port)); os.rename('new', 'port')
s.serve_forever()" {marker}"""

ASK = """while [ ! -e port ]; do sleep 0.02; done; python3 -c "
import urllib.request as u
print(u.urlopen('http://127.0.0.1:' + open('port').read() + '/hello.txt').read().decode())" """


def running_with(marker: str) -> list[str]:
    """The command lines that hold the marker, of all processes of this machine."""
    lines = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            lines.append(path.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace"))
        except OSError:
            continue
    return [line for line in lines if marker in line]


def in_background(command: str) -> Any:
    return call("Bash", command=command, run_in_background=True)


def test_a_server_is_started_asked_looked_at_and_stopped(runner: Runner) -> None:
    marker = f"marker-{secrets.token_hex(8)}"
    (runner.work / "hello.txt").write_text("hello from the job")
    seen: list[bool] = []

    def stop(request: Request) -> Any:
        seen.append(bool(running_with(marker)))
        return reply(call("TaskStop", task_id="job_1"))

    def after(request: Request) -> Any:
        seen.append(bool(running_with(marker)))
        return reply("done")

    runner.serve(
        reply(in_background(SERVER.format(marker=marker))),
        reply(call("Bash", command=ASK)),
        reply(call("TaskOutput", task_id="job_1", block=False)),
        stop,
        after,
    )
    # Only bubblewrap gives commands a network among themselves.
    ran = runner.frames("serve", *FREELY, "--sandbox", "off")
    assert ran.code == 0, ran
    started, asked, looked, stopped = ran.tool_results
    assert started["data"]["backgroundTaskId"] == "job_1"
    assert "hello from the job" in str(asked["content"])
    assert "GET /hello.txt" in str(looked["content"])
    assert str(stopped["content"]).find("Stopped: job_1") >= 0
    assert seen == [True, False]


def test_the_end_of_a_job_is_in_the_next_request(runner: Runner) -> None:
    def until_told(request: Request) -> Any:
        if "[Background job job_1" in request.user_texts[-1]:
            return reply("heard")
        return reply(call("Bash", command=f"true {request.number}"))

    runner.serve(reply(in_background("echo said by the job; exit 3")), *[until_told] * MANY)
    ran = runner.prompt("go", *FREELY)
    assert (ran.code, ran.result["result"]) == (0, "heard"), ran
    told = runner.requests[-1].user_texts[-1]
    assert re.search(r"\(echo said by the job; exit 3\) ended after [\d.]+ s\. Exit code 3\.", told)
    assert told.count("> said by the job") == 1
    path = re.search(r"Output: (\S+); its last lines", told)
    assert path is not None
    assert Path(path[1]).read_text() == "said by the job\n"


def test_a_job_outlives_its_turn_and_is_told_in_a_later_one(runner: Runner) -> None:
    go = runner.work / "go"
    os.mkfifo(go)

    def until_told(request: Request) -> Any:
        if "> over now" in "".join(request.user_texts):
            return reply("heard")
        return reply(call("Bash", command=f"true {request.number}"))

    runner.serve(reply(in_background("cat go; echo over now")), "started", *[until_told] * MANY)
    live = runner.converse(*FREELY)
    live.say("start it")
    assert live.next("result")["result"] == "started"
    go.write_text("")  # returns when the job reads it
    live.say("is it over?")
    assert live.next("result")["result"] == "heard"
    assert live.finish().code == 0


def test_a_job_ends_with_the_run(runner: Runner) -> None:
    marker = f"marker-{secrets.token_hex(8)}"
    seen: list[bool] = []

    def finish(request: Request) -> Any:
        deadline = time.monotonic() + PATIENCE
        while not running_with(marker) and time.monotonic() < deadline:
            time.sleep(0.01)  # a process has its command line a moment after it has begun
        seen.append(bool(running_with(marker)))
        return reply("bye")

    command = f"bash -c 'trap \"\" TERM; sleep 300; true' {marker} & sleep 300 # {marker}"
    runner.serve(reply(in_background(command)), finish)
    ran = runner.prompt("go", *FREELY)
    assert (ran.code, ran.result["result"]) == (0, "bye"), ran
    assert seen == [True]
    assert running_with(marker) == [], "gone with the run, also what ignores SIGTERM"


def test_a_run_says_which_jobs_end_with_it(runner: Runner) -> None:
    runner.serve(reply(in_background("sleep 500")), "bye")
    ran = runner.prompt("go", *FREELY)
    assert ran.stderr == "detent: job_1 (sleep 500) was ended with the run\n"
    (ended,) = ran.result["background_jobs_ended"]
    assert (ended["task_id"], ended["command"]) == ("job_1", "sleep 500")
    assert Path(ended["output_file"]).name == "job_1.txt"

    runner.serve(reply(in_background("sleep 500")), "bye")
    ran = runner.run("-p", "go", *FREELY)
    assert (ran.stdout, ran.stderr) == (
        "bye\n",
        "detent: job_1 (sleep 500) was ended with the run\n",
    )

    runner.serve("nothing was started")
    ran = runner.prompt("go", *FREELY)
    assert ran.stderr == "" and "background_jobs_ended" not in ran.result


def test_a_host_hears_of_a_job(runner: Runner) -> None:
    def until_told(request: Request) -> Any:
        if "[Background job job_1" in request.user_texts[-1]:
            return reply("heard")
        return reply(call("Bash", command=f"true {request.number}"))

    both = in_background("exit 3"), in_background("sleep 500")
    runner.serve(reply(*both), *[until_told] * MANY)
    live = runner.converse(*FREELY)
    live.say("go")
    began = live.next("system", "task_started")
    assert (began["task_id"], began["task_type"]) == ("job_1", "local_bash")
    over = live.next("system", "task_notification")
    assert (over["task_id"], over["status"]) == ("job_1", "failed")
    assert over["tool_use_id"] == began["tool_use_id"] != ""
    assert over["summary"] == "exit 3: exit code 3" and Path(over["output_file"]).is_file()
    live.next("result")
    ran = live.finish()
    assert "job_2 (sleep 500) was ended with the run" in ran.stderr
    assert [f["task_id"] for f in ran.of("system", "task_notification")] == ["job_1"]


@pytest.mark.parametrize("how", ["-r", "--fork-session"])
def test_a_session_that_goes_on_hears_that_its_jobs_are_over(runner: Runner, how: str) -> None:
    until_it_printed = "while [ ! -e begun ]; do sleep 0.01; done"
    runner.serve(
        reply(in_background("echo printed; touch begun; sleep 500")),
        reply(call("Bash", command=until_it_printed)),
        "bye",
    )
    first = runner.prompt("go", *FREELY).result
    path = first["background_jobs_ended"][0]["output_file"]

    def look(request: Request) -> Any:
        return reply(call("TaskOutput", task_id="job_1"), call("Read", file_path=path))

    runner.serve(look, reply(in_background("sleep 500")), "bye")
    resume = ("-r", first["session_id"], *([] if how == "-r" else [how]))
    second = runner.frames("how is it?", *resume, "--allowedTools", "Bash(sleep *)")
    told = "".join(runner.requests[0].user_texts)
    assert "[Background job job_1 (echo printed; touch begun; sleep 500) is over: it was" in told
    assert f"Its output is in {path}.]" in told
    looked, read, begun = second.tool_results
    assert "is over" in looked["content"] and "printed" in looked["content"]
    assert "printed" in read["content"], "it may be read unasked"
    assert begun["data"] is not None, begun
    assert begun["data"]["backgroundTaskId"] == "job_2"

    runner.serve("yes")
    runner.prompt("and now?", "-r", second.result["session_id"])
    told = "".join(runner.requests[0].user_texts)
    assert told.count("[Background job job_1 ") == 1, "once is enough"
    assert told.count("[Background job job_2 ") == 1


def test_output_is_kept_also_where_nothing_can_be_saved(runner: Runner) -> None:
    runner.serve("hi")
    runner.prompt("hi")
    session = "11111111-2222-4333-8444-555555555555"
    (runner.logs[0].parent / session).write_text("in the way of the folder")
    paths: list[str] = []

    def read(request: Request) -> Any:
        found = re.search(r"is in (\S+): use Read", request.tool_results[-1].text)
        assert found is not None
        paths.append(found[1])
        mode = Path(found[1]).parent.stat().st_mode & 0o777
        assert mode == 0o700
        return reply(call("Read", file_path=found[1], limit=3))

    runner.serve(
        reply(call("Bash", command="seq 30000")), read, reply(in_background("sleep 500")), "ok"
    )
    allow = ("--allowedTools", "Bash(seq *),Bash(sleep *)")
    ran = runner.frames("go", "--session-id", session, *allow)
    assert ran.code == 0, ran
    _, looked, begun = ran.tool_results
    assert not looked["is_error"] and not begun["is_error"], (looked, begun)
    assert not Path(paths[0]).exists(), "gone with the session"


def test_a_job_starts_without_delay_and_needs_the_same_permission(runner: Runner) -> None:
    runner.serve(reply(in_background("touch made")), "done")
    ran = runner.frames("go", "--permission-mode", "dontAsk")
    assert ran.tool_results[0]["is_error"]
    assert not (runner.work / "made").exists()


def peak_of(runner: Runner, command: str) -> tuple[int, str, str]:
    """The agent's peak memory in KB, the result of the command, and the last request's body."""
    lives: list[Live] = []
    peaks: list[int] = []

    def measure(request: Request) -> Any:
        status = Path(f"/proc/{lives[0].pid}/status").read_text()
        peaks.append(int(re.findall(r"VmHWM:\s+(\d+) kB", status)[0]))
        return reply("done")

    runner.serve(reply(call("Bash", command=command)), measure)
    lives.append(runner.start("-p", "go", "--output-format", "stream-json", *FREELY))
    ran = lives[0].finish()
    assert ran.code == 0, ran
    (result,) = ran.tool_results
    return peaks[0], str(result["content"]), runner.requests[-1].tool_results[0].text


def test_a_flood_is_kept_in_a_file_and_not_in_memory(runner: Runner) -> None:
    usual, _, _ = peak_of(runner, "echo hi")
    flood = "printf first; head -c 100000000 /dev/zero | tr '\\0' x; echo last"
    peak, shown, sent = peak_of(runner, flood)
    assert peak - usual < 20_000, f"{peak - usual} KB more"
    found = re.search(r"the whole output \(100\.0 MB\) is in (\S+): use Read or Grep", sent)
    assert found is not None, sent[:200]
    assert len(sent) <= 30_000 and len(shown) < 70_000
    with open(found[1], "rb") as file:
        assert file.read(5) == b"first"
        assert all(piece.count(b"x") == len(piece) for piece in _pieces(file, 100_000_000))
        assert file.read() == b"last\n"


@pytest.mark.parametrize(("wanted", "most"), [(2_000, 2_000), (50_000, 50_000), (10**9, 150_000)])
def test_the_bound_is_a_variable(runner: Runner, wanted: int, most: int) -> None:
    runner.serve(reply(call("Bash", command="seq 30000")), "done")
    ran = runner.prompt("go", *FREELY, env={"BASH_MAX_OUTPUT_LENGTH": str(wanted)})
    assert ran.code == 0, ran
    sent = runner.requests[-1].tool_results[0].text
    assert most - 500 < len(sent) <= most
    assert sent.startswith("1\n2\n3\n") and sent.endswith("\n29999\n30000")


def _pieces(file: Any, size: int) -> Any:
    while size > 0:
        piece = file.read(min(size, 1 << 20))
        assert piece
        size -= len(piece)
        yield piece
