"""The small profile around a scripted inner model: what it is asked, and what the loop gets."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest

from detent.models.small.model import MOST_SAMPLES, SmallModel
from detent.models.small.telling import prompt
from detent.testing.scripted_model import ScriptedModel
from detent.types.content import Call, Result, Text
from detent.types.deltas import CallReady, Delta
from detent.types.events import CallDelta, TextDelta
from detent.types.messages import Assistant, Message, Reply, Request, ToolSpec, User

SNAPSHOTS = Path(__file__).parents[3] / "requests" / "small"
TOOLS = tuple(
    ToolSpec(name, "…", msgspec.Raw(b"{}"))
    for name in ("Bash", "Read", "Edit", "Write", "Glob", "Grep", "Other")
)
SYSTEM = ("a very long prompt", "# Surroundings\n- Working folder: /p")
PROGRAM = ("def area(a, b):", "    return a + b")
NUMBERED = "\n".join(f"{n:>6}\t{line}" for n, line in enumerate(PROGRAM, 1))
TEST = "python3 -m unittest -q"
FAILURE = "AssertionError: 5 != 6\nFAILED (failures=1)\nExit code 1"


class Spoken:
    """What came out of one request to the small model."""

    def __init__(self, reply: Reply, inner: ScriptedModel, deltas: list[Delta]) -> None:
        self.reply = reply
        self.requests = inner.requests
        self.deltas = deltas

    @property
    def call(self) -> tuple[str, dict[str, Any]]:
        (call,) = self.reply.calls
        return call.name, json.loads(call.arguments)


def ask(
    messages: Sequence[Message], *says: dict[str, Any] | str, tools: Sequence[ToolSpec] = TOOLS
) -> Spoken:
    inner = ScriptedModel(*(one if isinstance(one, str) else json.dumps(one) for one in says))
    deltas: list[Delta] = []

    async def keep(delta: Delta) -> None:
        deltas.append(delta)

    small = SmallModel(inner, lambda: "call_1")
    reply = asyncio.run(small.stream(Request(SYSTEM, messages, tools), keep))
    assert len(inner.requests) == len(says), "it asked less often than expected"
    return Spoken(reply, inner, deltas)


def step(
    number: int, tool: str, result: str, *, failed: bool = False, **arguments: Any
) -> list[Message]:
    call = Call(f"c{number}", tool, json.dumps(arguments))
    return [Assistant((call,)), User((Result(call.id, (Text(result),), failed),))]


def talk(*steps: list[Message], task: str = "mend area.py") -> list[Message]:
    return [User((Text(task),)), *(message for one in steps for message in one)]


RAN = step(1, "Bash", FAILURE, failed=True, command=TEST)
READ = step(2, "Read", NUMBERED, file_path="area.py", limit=150)
READ_TEST = step(2, "Read", "     1\tfrom area import area", file_path="/p/test_area.py", limit=150)
WRITTEN = step(1, "Write", "Created /p/a.py (1 line).", file_path="a.py", content="print(1)\n")
EDITED = step(
    3, "Edit", "Changed /p/area.py", file_path="area.py",
    old_string="    return a + b", new_string="    return a * b",
)  # fmt: skip


def offered(request: Request) -> list[str]:
    assert request.form is not None
    form = msgspec.json.decode(request.form)
    options = form.get("oneOf", [form])
    return [option["properties"]["tool"]["const"] for option in options]


def said(request: Request) -> str:
    (block,) = request.messages[-1].content
    assert isinstance(block, Text)
    return block.text


# What the model sees


@pytest.mark.parametrize(
    ("name", "messages"),
    [
        ("begin", talk()),
        ("after-a-failure", talk(RAN)),
        ("after-a-read", talk(RAN, READ)),
        ("after-reading-the-test", talk(RAN, READ_TEST)),
        ("after-an-edit", talk(RAN, READ, EDITED)),
        ("after-a-write", talk(WRITTEN, task="write a.py and run it")),
    ],
)
def test_the_exact_request(name: str, messages: list[Message]) -> None:
    spoken = ask(messages, {"tool": "find", "pattern": "*"})
    seen = msgspec.json.format(msgspec.json.encode(spoken.requests[0]), indent=1) + b"\n"
    path = SNAPSHOTS / f"{name}.json"
    if os.environ.get("UPDATE_SNAPSHOTS"):
        path.write_bytes(seen)
    assert path.read_bytes() == seen


def test_the_prompt_is_short() -> None:
    assert len(prompt()) / 3.2 < 600  # measured with the model's own tokenizer: see docs


def test_the_task_is_what_the_user_said() -> None:
    """Not the date or what git says, which stand before it."""
    around = Text("<surroundings>\ngit status: clean\n</surroundings>")
    request = ask([User((around, Text("mend area.py")))], {"tool": "find", "pattern": "*"})
    assert said(request.requests[0]) == "Task: mend area.py"


def memory(text: str) -> Text:
    return Text(f'<memory file="/p/CLAUDE.md">\n(Whose they are.)\n{text}\n</memory>')


def test_memory_stands_before_the_task_in_short() -> None:
    """And is no part of it, however much there is."""
    files = *(memory("far away"),) * 9, *(memory("use tabs"),) * 3, memory("x" * 50_000)
    first, *later = talk(RAN, READ)
    assert isinstance(first, User)
    messages: list[Message] = [User((*files, *first.content)), *later]
    told = ask(messages, {"tool": "find", "pattern": "*"}).requests[0].messages
    begin, end = (str(told[place].content[0]) for place in (0, -1))
    assert "Notes:" + "\\nuse tabs" * 3 + "\\nxxx" in begin and 300 < len(begin) < 1_300
    assert begin.index("xxx") < begin.index("Task: mend area.py")
    assert "Task: mend area.py" in end and "xxx" not in end and "use tabs" not in end


def test_memory_met_on_the_way_or_gone_is_not_taken_for_a_task() -> None:
    gone = Text('<memory file="/p/X.md">\nThis file counts no longer.\n</memory>')
    read = [READ[0], User((*READ[1].content, memory("about this folder")))]
    begin = User((gone, Text("mend area.py")))
    request = ask([begin, *RAN, *read], {"tool": "find", "pattern": "*"}).requests[0]
    assert "about this folder" not in str(request) and "no longer" not in str(request)
    assert "Task: mend area.py" in said(request)


def test_a_prompt_that_looks_like_a_word_of_the_program_is_still_the_task() -> None:
    pasted = Text("<surroundings>\nwhat does this tag mean?")
    request = ask([User((memory("use tabs"), pasted))], {"tool": "find", "pattern": "*"})
    assert said(request.requests[0]).endswith("Task: <surroundings>\nwhat does this tag mean?")


def test_requests_only_grow() -> None:
    """The server's prefix cache holds: what was sent is sent again as it was."""
    whole = talk(RAN, READ, EDITED, step(4, "Bash", "OK", command=TEST))
    seen = [
        ask(whole[:end], {"tool": "search", "pattern": str(end)}).requests[0].messages
        for end in range(1, len(whole) + 1, 2)
    ]
    for shorter, longer in pairwise(seen):
        assert list(longer[: len(shorter)]) == list(shorter)


def test_no_native_tools_and_only_known_ones() -> None:
    request = ask(talk(), {"tool": "read", "path": "a"}).requests[0]
    assert request.tools == ()
    assert offered(request) == ["run", "read", "find", "search", "write", "answer"]


def test_a_denied_tool_is_not_offered() -> None:
    request = ask(talk(), {"tool": "read", "path": "a"}, tools=TOOLS[1:3]).requests[0]
    assert offered(request) == ["read", "answer"]


def test_edit_is_offered_for_files_that_were_read() -> None:
    request = ask(talk(READ), {"tool": "answer", "text": "x"}).requests[0]
    assert request.form is not None
    (edit,) = [o for o in msgspec.json.decode(request.form)["oneOf"] if "edit" in str(o)]
    assert edit["properties"]["path"] == {"enum": ["area.py"]}


def test_a_long_result_is_shortened() -> None:
    ran = step(1, "Bash", "x" * 50_000 + "the end", command="yes")
    assert len(said(ask(talk(ran), {"tool": "answer", "text": "x"}).requests[0])) < 2_000


def test_when_the_window_is_full_the_oldest_steps_go() -> None:
    steps = [step(n, "Bash", f"{n} " * 700, command=f"c{n}") for n in range(60)]
    inner = ScriptedModel(json.dumps({"tool": "find", "pattern": "*"}), window=8192)
    small = SmallModel(inner)

    async def drop(delta: Delta) -> None:
        pass

    asyncio.run(small.stream(Request(SYSTEM, talk(*steps), TOOLS), drop))
    messages = inner.requests[0].messages
    assert sum(len(b.text) for m in messages for b in m.content if isinstance(b, Text)) < 20_000
    assert "mend area.py" in str(messages[0])
    assert [isinstance(m, User) for m in messages] == [n % 2 == 0 for n in range(len(messages))]
    assert "c59" in str(messages[-2])


# What the loop gets


@pytest.mark.parametrize(
    ("action", "call"),
    [
        ({"tool": "run", "command": "ls"}, ("Bash", {"command": "ls"})),
        ({"tool": "read", "path": "a"}, ("Read", {"file_path": "a", "limit": 150})),
        ({"tool": "find", "pattern": "*"}, ("Glob", {"pattern": "*"})),
        (
            {"tool": "search", "pattern": "x"},
            ("Grep", {"pattern": "x", "output_mode": "content", "head_limit": 40}),
        ),
        (
            {"tool": "write", "path": "a", "content": "b"},
            ("Write", {"file_path": "a", "content": "b"}),
        ),
    ],
)
def test_an_action_becomes_a_call(action: dict[str, Any], call: tuple[str, Any]) -> None:
    spoken = ask(talk(), action)
    assert spoken.call == call
    assert spoken.reply.stop == "tool_use"
    (_, delta, ready) = spoken.deltas
    assert isinstance(delta, CallDelta) and isinstance(ready, CallReady)
    assert delta.fragment == ready.call.arguments
    assert spoken.reply.content == (ready.call,)


def test_the_real_tools_take_the_arguments() -> None:
    from detent.tools.registry import Registry

    for action in (
        {"tool": "run", "command": "ls"},
        {"tool": "read", "path": "a"},
        {"tool": "find", "pattern": "*"},
        {"tool": "search", "pattern": "x"},
        {"tool": "write", "path": "a", "content": "b"},
    ):
        (call,) = ask(talk(), action).reply.calls
        tool = Registry(None, []).find(call.name)
        assert tool is not None
        tool.parse(call.arguments)


def test_an_answer_is_streamed_as_it_comes() -> None:
    spoken = ask(talk(), {"tool": "answer", "text": 'It "works" now.\nReally.'})
    assert spoken.reply.content == (Text('It "works" now.\nReally.'),)
    assert spoken.reply.stop == "end_turn"
    texts = [delta.text for delta in spoken.deltas if isinstance(delta, TextDelta)]
    assert "".join(texts) == 'It "works" now.\nReally.'


def test_words_that_are_no_action_are_the_answer() -> None:
    """Not every server holds its model to a schema."""
    spoken = ask(talk(), "It is a rectangle.")
    assert spoken.reply.content == (Text("It is a rectangle."),)
    assert [d.text for d in spoken.deltas if isinstance(d, TextDelta)] == ["It is a rectangle."]


def test_a_broken_action_is_asked_for_again() -> None:
    spoken = ask(talk(), '{"tool": "run", "comm', {"tool": "run", "command": "ls"})
    assert spoken.call == ("Bash", {"command": "ls"})
    assert "no action" in said(spoken.requests[1])


@pytest.mark.parametrize("tools", [TOOLS, ()])
def test_an_answer_that_must_be_data_is_handed_over(tools: tuple[ToolSpec, ...]) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    hand_over = ToolSpec("StructuredOutput", "…", msgspec.Raw(json.dumps(schema).encode()))
    spoken = ask(talk(), {"tool": "answer", "value": {"n": 3}}, tools=(*tools, hand_over))
    assert spoken.call == ("StructuredOutput", {"n": 3})
    form = msgspec.json.decode(spoken.requests[0].form or b"{}")
    assert form.get("oneOf", [form])[-1]["properties"]["value"] == schema
    assert spoken.deltas and not any(isinstance(d, TextDelta) for d in spoken.deltas)


def test_without_tools_it_just_talks() -> None:
    spoken = ask(talk(), "Plain words.", tools=())
    assert spoken.reply.content == (Text("Plain words."),)
    assert spoken.requests[0].form is None


# Editing


def test_a_short_file_is_written_again_and_the_difference_taken() -> None:
    answer = "It adds.\n```python\ndef area(a, b):\n    return a * b\n```"
    spoken = ask(talk(RAN, READ), {"tool": "edit", "path": "area.py"}, answer)
    name, arguments = spoken.call
    assert name == "Edit"
    assert arguments["file_path"] == "area.py"
    assert arguments["old_string"] in "\n".join(PROGRAM)
    assert "a * b" in arguments["new_string"]
    draft = said(spoken.requests[1])
    assert "5 != 6" in draft and "return a + b" in draft
    assert spoken.requests[1].form is None


def test_where_the_rewrite_comes_to_nothing_a_line_is_picked() -> None:
    picked = {"why": "it adds", "old": "return a + b", "new": "return a * b"}
    spoken = ask(talk(RAN, READ), {"tool": "edit", "path": "area.py"}, "I cannot.", picked)
    assert spoken.call[1]["new_string"].endswith("    return a * b")
    form = msgspec.json.decode(spoken.requests[2].form or b"{}")
    assert form["properties"]["old"]["enum"] == [line.strip() for line in PROGRAM]


def test_an_edit_that_changes_nothing_is_not_made() -> None:
    same = {"why": "?", "old": "return a + b", "new": "return a + b"}
    edit = {"tool": "edit", "path": "area.py"}
    spoken = ask(talk(RAN, READ), edit, "no", same, {"tool": "run", "command": "cat area.py"})
    assert spoken.call[0] == "Bash"
    assert "would change" in said(spoken.requests[3])


# The repeat guard


def test_what_was_done_is_not_done_again() -> None:
    again = {"tool": "run", "command": TEST}
    spoken = ask(talk(RAN), again, {"tool": "read", "path": "area.py"})
    assert spoken.call[0] == "Read"
    assert "already did this" in said(spoken.requests[1])
    assert "5 != 6" in said(spoken.requests[1])


def test_who_insists_loses_the_tool() -> None:
    again = {"tool": "run", "command": TEST}
    spoken = ask(talk(RAN), again, again, {"tool": "read", "path": "area.py"})
    assert "run" in offered(spoken.requests[1])
    assert "run" not in offered(spoken.requests[2])


def test_it_ends_with_an_answer_at_last() -> None:
    run, read = {"tool": "run", "command": TEST}, {"tool": "read", "path": "area.py"}
    spoken = ask(talk(RAN, READ), run, run, read, {"tool": "answer", "text": "I am stuck."})
    assert len(spoken.requests) == MOST_SAMPLES
    assert offered(spoken.requests[-1]) == ["answer"]
    assert spoken.reply.content == (Text("I am stuck."),)


def test_after_a_change_the_command_may_run_again() -> None:
    spoken = ask(talk(RAN, READ, EDITED), {"tool": "run", "command": TEST})
    assert spoken.call == ("Bash", {"command": TEST})


def test_the_same_change_is_never_made_twice() -> None:
    undone = step(4, "Edit", "Changed", file_path="area.py",
                  old_string="    return a * b", new_string="    return a + b")  # fmt: skip
    again = "```\ndef area(a, b):\n    return a * b\n```"
    spoken = ask(
        talk(READ, EDITED, undone), {"tool": "edit", "path": "area.py"}, again,
        {"tool": "answer", "text": "x"},
    )  # fmt: skip
    assert "already did this" in said(spoken.requests[2])


def test_a_change_is_checked_before_anything_is_claimed() -> None:
    request = ask(talk(RAN, READ, EDITED), {"tool": "run", "command": TEST}).requests[0]
    assert "answer" not in offered(request)
    checked = talk(RAN, READ, EDITED, step(4, "Bash", "OK", command=TEST))
    assert "answer" in offered(ask(checked, {"tool": "answer", "text": "x"}).requests[0])


def test_a_failure_is_looked_into_before_anything_is_claimed() -> None:
    assert "answer" not in offered(ask(talk(RAN), {"tool": "find", "pattern": "*"}).requests[0])
    looks = [step(n, "Glob", "nothing", pattern=str(n)) for n in range(2, 6)]
    assert "answer" in offered(ask(talk(RAN, *looks), {"tool": "answer", "text": "x"}).requests[0])


def test_the_usage_of_every_sample_counts() -> None:
    run = {"tool": "run", "command": TEST}
    one = ask(talk(RAN), {"tool": "find", "pattern": "*"}).reply.usage
    two = ask(talk(RAN), run, {"tool": "find", "pattern": "*"}).reply.usage
    assert two.total == 2 * one.total > 0
