"""Every exit code in its situation, signals, and sessions that go on after whatever happened."""

import os
import select
import signal
import subprocess
import threading
from pathlib import Path

import pytest

from detent.testing import Reply, call, fault, reply, say

from .conftest import BOTH_WIRES, DETENT, PATIENCE, Pipe, Runner

UNTIL_KILLED = "--dangerously-skip-permissions"


def test_0_done(runner: Runner) -> None:
    runner.serve("done")
    assert runner.run("-p", "x").code == 0


@BOTH_WIRES
def test_0_also_when_a_command_failed_and_the_model_went_on(runner: Runner) -> None:
    runner.serve(reply(call("Bash", command="false")), "it failed")
    assert runner.run("-p", "x").code == 0


@BOTH_WIRES
def test_1_the_request_was_refused(runner: Runner) -> None:
    runner.serve(fault(400, body='{"error": {"message": "no such parameter"}}'))
    ran = runner.run("-p", "x")
    assert (ran.code, ran.stdout) == (1, "")
    assert "no such parameter" in ran.stderr
    assert len(runner.requests) == 1


@BOTH_WIRES
def test_1_the_model_refused(runner: Runner) -> None:
    runner.serve(reply("I cannot", stop="refusal"))
    ran = runner.prompt("x")
    assert ran.code == 1
    assert ran.result["is_error"] is True


def test_2_usage(runner: Runner) -> None:
    assert runner.run("-p", "x", "--no-such-flag").code == 2


@BOTH_WIRES
def test_3_a_call_was_refused_and_the_turn_ended(runner: Runner) -> None:
    runner.serve(reply(call("Write", file_path="a.txt", content="x")), "I may not.")
    ran = runner.run("-p", "x")
    assert (ran.code, ran.stdout) == (3, "I may not.\n")
    assert "not permitted: Write" in ran.stderr
    assert not (runner.work / "a.txt").exists()


@BOTH_WIRES
def test_3_on_ask_fail_ends_the_turn_at_the_first_question(runner: Runner) -> None:
    runner.serve(reply(call("Write", file_path="a.txt", content="x")))
    ran = runner.prompt("x", "--on-ask", "fail")
    assert ran.code == 3, ran
    assert ran.result["terminal_reason"] == "hook_stopped"
    assert len(runner.requests) == 1


@BOTH_WIRES
@pytest.mark.parametrize(
    ("flag", "value", "reason"),
    [
        ("--max-turns", "2", "max_turns"),
        ("--max-tool-calls", "2", "budget_exhausted"),
        ("--max-tokens", "25", "budget_exhausted"),
        ("--max-budget-usd", "0.0000001", "budget_exhausted"),
    ],
)
def test_4_a_limit(runner: Runner, flag: str, value: str, reason: str) -> None:
    runner.serve(reply(call("Bash", command="true")), after="repeat_last")
    ran = runner.prompt("x", flag, value)
    assert ran.code == 4, ran
    assert ran.result["terminal_reason"] == reason
    assert ran.result["is_error"] is True
    assert len(runner.requests) == (1 if flag == "--max-budget-usd" else 2)


@BOTH_WIRES
def test_5_cut_at_the_output_limit_again_and_again(runner: Runner) -> None:
    runner.serve(reply("endless ", stop="max_tokens"), after="repeat_last")
    ran = runner.prompt("x")
    assert ran.code == 5, ran
    assert ran.result["reason"] == "max_tokens"
    assert len(runner.requests) > 1


def test_5_the_prompt_is_too_long(runner: Runner) -> None:
    too_long = '{"error": {"message": "prompt is too long: 300000 tokens > 200000 maximum"}}'
    runner.serve(fault(400, body=too_long), after="repeat_last")
    ran = runner.prompt("x")
    assert ran.code == 5, ran
    assert ran.result["terminal_reason"] == "prompt_too_long"


@BOTH_WIRES
def test_7_the_key_is_wrong(runner: Runner) -> None:
    runner.serve(fault(401))
    assert runner.run("-p", "x").code == 7
    assert len(runner.requests) == 1


def test_7_nobody_listens_there(runner: Runner) -> None:
    """The port was ours a moment ago, so nobody else has it."""
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound but not listening: connecting is refused
        address = f"http://127.0.0.1:{taken.getsockname()[1]}"
        env = {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": address}
        ran = runner.prompt("x", "--settings", '{"retryDelays": [0, 0]}', env=env)
    assert ran.code == 7
    assert ran.result["terminal_reason"] == "api_error"


# Signals


def is_gone(pid_descriptor: int, within: float = 0) -> bool:
    """A pidfd becomes readable when its process has ended. Asked after the run: no waiting."""
    return bool(select.select([pid_descriptor], [], [], within)[0])


@BOTH_WIRES
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_while_the_model_speaks(runner: Runner, number: int, code: int) -> None:
    never = threading.Event()
    runner.serve(reply(say("half an ", "answer"), hold=never, hold_after=1), "and on")
    partial = ("--output-format", "stream-json", "--include-partial-messages")
    live = runner.start("-p", "x", *partial)
    live.next("stream_event", where=lambda frame: "delta" in frame["event"])
    os.kill(live.pid, number)
    ran = live.finish()
    assert ran.code == code, ran
    assert "Traceback" not in ran.stderr
    assert ran.result["terminal_reason"] == "aborted_streaming"
    assert ran.result["session_id"] in ran.stderr  # how to go on
    runner.server.wait_for_mark(1, "gone")

    again = runner.prompt("go on", "-c")
    assert again.code == 0, again
    assert again.result["session_id"] == ran.result["session_id"]
    texts = runner.requests[1].user_texts
    assert (texts[0], texts[-1]) == ("x", "go on")
    assert "half an " in runner.requests[1].body.decode()


@pytest.mark.parametrize("saved", [True, False])
def test_an_interrupt_is_told_once(runner: Runner, saved: bool) -> None:
    never = threading.Event()
    runner.serve(reply("half", hold=never, hold_after=0))
    live = runner.start("-p", "x", *([] if saved else ["--no-session-persistence"]))
    runner.server.wait_for(1)
    os.kill(live.pid, signal.SIGINT)
    ran = live.finish()
    (line,) = ran.stderr.splitlines()
    assert line.lower().startswith("detent: interrupted")
    assert ("go on with" in line) == saved


@BOTH_WIRES
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_while_a_command_runs(runner: Runner, pipe: Pipe, number: int, code: int) -> None:
    """The command and what it started are gone; the session goes on and is valid."""
    command = f"sleep 1000 & echo $$ $! > {pipe.path}; wait"
    runner.serve(reply(call("Bash", command=command, id="long")), "and on")
    live = runner.start("-p", "x", "--output-format", "json", UNTIL_KILLED)
    pids = [int(pid) for pid in pipe.line().split()]
    descriptors = [live.pidfd(pid) for pid in pids]
    try:
        os.kill(live.pid, number)
        ran = live.finish()
        assert ran.code == code, ran
        assert "Traceback" not in ran.stderr
        assert ran.result["terminal_reason"] == "aborted_tools"
        assert all(map(is_gone, descriptors))
    finally:
        for descriptor in descriptors:
            os.close(descriptor)

    again = runner.prompt("go on", "-c", UNTIL_KILLED)
    assert again.code == 0, again
    told = runner.requests[1].body.decode()
    assert "interrupted" in told
    assert len(runner.requests) == 2  # the command was not run again


def test_a_killed_run_leaves_a_session_that_goes_on(runner: Runner, pipe: Pipe) -> None:
    """No handler can help against SIGKILL; the log alone must do."""
    text = f"echo $$ > {pipe.path}; exec sleep 1000"
    runner.serve(reply(call("Bash", command=text, id="long")), "and on")
    live = runner.start("-p", "x", UNTIL_KILLED)
    command = live.pidfd(int(pipe.line()))
    live.process.kill()
    live.finish()
    assert is_gone(command, within=5), "what the agent had started ends with it"
    os.close(command)
    again = runner.prompt("go on", "-c", UNTIL_KILLED)
    assert again.code == 0, again
    assert "was ended with the agent" in runner.requests[1].body.decode()


def test_a_second_signal_leaves_no_process_behind(runner: Runner, pipe: Pipe) -> None:
    """The command hears that it should stop and does not; the person insists."""
    told = f"echo told > {pipe.path}"
    command = f"trap '{told}' TERM; echo $$ > {pipe.path}; while :; do sleep 1000 & wait; done"
    runner.serve(reply(call("Bash", command=command)))
    live = runner.start("-p", "x", UNTIL_KILLED)
    descriptor = live.pidfd(int(pipe.line()))
    try:
        os.kill(live.pid, signal.SIGINT)
        assert pipe.line().startswith("told")
        os.kill(live.pid, signal.SIGINT)
        ran = live.finish()
        assert ran.code == 130, ran
        assert "Traceback" not in ran.stderr
        assert is_gone(descriptor)
    finally:
        os.close(descriptor)


# A reader who leaves


@BOTH_WIRES
@pytest.mark.parametrize("output", ["text", "json", "stream-json"])
def test_a_reader_who_left_gets_no_complaint(runner: Runner, output: str) -> None:
    release = threading.Event()
    runner.serve(reply("x" * 500, hold=release, hold_after=0))
    live = runner.start("-p", "x", "--output-format", output)
    runner.server.wait_for(1)
    assert live.process.stdout is not None
    live.process.stdout.close()
    release.set()
    assert live.process.stderr is not None
    assert live.process.stderr.read() == b""
    assert live.wait() not in (0, 1)


@pytest.mark.parametrize("output", ["text", "json", "stream-json"])
@pytest.mark.parametrize("stdout", [">&-", "> /dev/full"])
def test_an_output_that_cannot_be_written(runner: Runner, output: str, stdout: str) -> None:
    """Closed from the start, its number must not become that of a socket of ours."""
    runner.serve(reply(call("Bash", command="true")), "done")
    ran = runner.prompt("x", output=output, shell=f"exec {stdout}")
    assert ran.code == 1, ran
    assert ran.stderr.startswith("detent: cannot write the output: ")
    assert ran.stderr.count("\n") == 1


@pytest.mark.parametrize("closed", ["2>&-", "<&-", "<&- 2>&-"])
def test_other_streams_that_are_closed_are_not_missed(runner: Runner, closed: str) -> None:
    runner.serve(reply(call("Write", file_path="a", content="x")), "done")
    ran = runner.run("-p", "x", "--verbose", shell=f"exec {closed}")
    assert (ran.code, ran.stdout) == (3, "done\n")


def test_a_host_that_stops_reading_ends_the_conversation(runner: Runner) -> None:
    runner.serve("never said")
    live = runner.start(
        "--input-format", "stream-json", "--output-format", "stream-json", stdin=True
    )
    assert live.process.stdout is not None and live.process.stderr is not None
    live.process.stdout.close()
    request = {"subtype": "mcp_status"}
    live.send({"type": "control_request", "request_id": "1", "request": request})
    assert live.wait() == 141
    assert live.process.stderr.read() == b""


def test_help_into_a_pipe_nobody_reads(runner: Runner) -> None:
    line = f"{runner.env()['PATH'].split(':')[0]}/detent --help | true"
    done = subprocess.run(
        ["bash", "-c", line], env=runner.env(), capture_output=True, timeout=PATIENCE, check=False
    )
    assert done.stderr == b""


# Sessions


def two_turns(runner: Runner) -> str:
    runner.serve("one", "two", "three")
    first = runner.prompt("first question")
    assert first.code == 0, first
    return str(first.result["session_id"])


@BOTH_WIRES
@pytest.mark.parametrize("how", ["-c", "--continue", "-r", "--resume=", "prefix"])
def test_a_second_run_goes_on_with_the_session(runner: Runner, how: str) -> None:
    session = two_turns(runner)
    flags = {
        "-c": ("-c",),
        "--continue": ("--continue",),
        "-r": ("-r", session),
        "--resume=": (f"--resume={session}",),
        "prefix": ("-r", session[:8]),
    }
    ran = runner.prompt("second question", *flags[how])
    assert ran.code == 0, ran
    assert ran.result["session_id"] == session
    assert runner.requests[1].user_texts == ["first question", "second question"]
    assert runner.requests[1].turn == 1
    assert [log.stem for log in runner.logs] == [session]


def test_the_newest_session_of_this_folder_is_continued(runner: Runner) -> None:
    runner.serve("one", "two", "three")
    other = runner.folder / "other"
    other.mkdir()
    mine = runner.prompt("mine").result["session_id"]
    theirs = runner.prompt("theirs", cwd=other).result["session_id"]
    ran = runner.prompt("again", "-c")
    assert ran.result["session_id"] == mine != theirs
    assert runner.requests[2].user_texts == ["mine", "again"]


@BOTH_WIRES
def test_a_fork_is_a_copy_and_leaves_the_original_alone(runner: Runner) -> None:
    session = two_turns(runner)
    (original,) = runner.logs
    before = original.read_bytes()
    ran = runner.prompt("second question", "-r", session, "--fork-session")
    assert ran.code == 0, ran
    fork = ran.result["session_id"]
    assert fork != session
    assert original.read_bytes() == before
    assert sorted(log.stem for log in runner.logs) == sorted([session, fork])
    assert runner.requests[1].user_texts == ["first question", "second question"]
    back = runner.prompt("third", "-r", fork)
    assert back.result["session_id"] == fork
    assert runner.requests[2].user_texts == ["first question", "second question", "third"]


def test_a_session_has_the_id_that_was_asked_for(runner: Runner) -> None:
    runner.serve("one")
    wanted = "0b4cf9a2-7c1e-4b69-9a53-0b1f6a1f2a3c"
    ran = runner.prompt("x", "--session-id", wanted)
    assert ran.result["session_id"] == wanted
    assert [log.stem for log in runner.logs] == [wanted]


def everything_below(folder: Path) -> set[Path]:
    return set(folder.rglob("*"))


@BOTH_WIRES
def test_no_session_writes_nothing(runner: Runner) -> None:
    runner.serve(reply(call("Bash", command="true")), "done")
    before = everything_below(runner.folder)
    ran = runner.prompt("x", "--no-session")
    assert ran.code == 0, ran
    assert everything_below(runner.folder) == before


def test_no_session_goes_on_without_adding_to_the_log(runner: Runner) -> None:
    session = two_turns(runner)
    (log,) = runner.logs
    before = log.read_bytes()
    ran = runner.prompt("second question", "-r", session, "--no-session")
    assert ran.code == 0, ran
    assert runner.requests[1].user_texts == ["first question", "second question"]
    assert log.read_bytes() == before
    assert runner.logs == [log]


def test_a_session_in_use_is_not_written_by_a_second_process(runner: Runner) -> None:
    release = threading.Event()
    held: Reply = reply(say("one", "two"), hold=release, hold_after=1)
    runner.serve(held, "other")
    live = runner.start("-p", "x", "--output-format", "json")
    runner.server.wait_for(1)
    (log,) = runner.logs
    ran = runner.run("-p", "y", "-r", log.stem)
    assert ran.code == 2, ran
    assert "in use by another process" in ran.stderr
    release.set()
    assert live.finish().code == 0
    assert len(runner.requests) == 1


@pytest.mark.parametrize(
    "words",
    [
        "permissions explain Bash(ls)",
        "permissions test cases.jsonl --json",
        "permissions suggest",
        "doctor",
        "trust --list",
        "models",
        "sessions all",
        "--version",
        "version",
    ],
)
def test_a_subcommand_into_a_pipe_nobody_reads(runner: Runner, words: str) -> None:
    """Long output meets the closed pipe while it is printed, short output at the end."""
    cases = Path(__file__).parents[1] / "corpora" / "benign-daily.jsonl"
    (runner.work / "cases.jsonl").write_bytes(cases.read_bytes())
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [str(DETENT), *words.split()],
        env=runner.env(),
        cwd=runner.work,
        stdin=subprocess.DEVNULL,
        stdout=writer,
        stderr=subprocess.PIPE,
        timeout=PATIENCE,
        check=False,
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")
