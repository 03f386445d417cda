"""The file and search tools of the installed command."""

from __future__ import annotations

import json
import struct
from base64 import b64encode
from typing import Any

import pytest

from detent.testing import Call, call, reply

from .conftest import ALL_WIRES, Ran, Runner

EDITS = ("--permission-mode", "acceptEdits")
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", 4, 4) + b"\0" * 50
PDF = b"""%PDF-1.4
1 0 obj
<< /Type /Catalog /Pages 2 0 R >>
endobj
2 0 obj
<< /Type /Pages /Count 1 /Kids [3 0 R] >>
endobj
3 0 obj
<< /Type /Page /Parent 2 0 R /MediaBox [0 0 99 99] /Contents 4 0 R /Resources << /Font <<
/F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>
endobj
4 0 obj
<< /Length 45 >>
stream
BT /F1 12 Tf 9 9 Td (words on a page) Tj ET  
endstream
endobj
trailer
<< /Size 5 /Root 1 0 R >>
startxref
0
%%EOF
"""
"""Its table is missing: many real files are like that."""


def steps(runner: Runner, *calls: Call, args: tuple[str, ...] = EDITS, code: int = 0) -> Ran:
    """One call after the other, then the end."""
    runner.serve(*(reply(one) for one in calls), "done")
    ran = runner.frames("go", *args)
    assert ran.code == code, ran
    return ran


def notebook() -> dict[str, Any]:
    picture = {"output_type": "display_data", "data": {"image/png": b64encode(PNG).decode()}}
    cells = [
        {"cell_type": "markdown", "id": "top", "metadata": {}, "source": ["# Title"]},
        {"cell_type": "code", "id": "plot", "metadata": {}, "source": ["plot()"],
         "execution_count": 3, "outputs": [picture]},
    ]  # fmt: skip
    return {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


def test_many_edits_at_once(runner: Runner) -> None:
    path = runner.work / "a.txt"
    path.write_bytes(b"one\r\ntwo\r\ntwo")
    edits = [
        {"old_string": "one\ntwo", "new_string": "1\n2"},
        {"old_string": "two", "new_string": "2"},
    ]
    ran = steps(
        runner,
        call("MultiEdit", file_path="a.txt", edits=edits),
        call("Read", file_path="a.txt"),
        call("MultiEdit", file_path="a.txt", edits=[*edits, {"old_string": "3", "new_string": ""}]),
        call("MultiEdit", file_path="a.txt", edits=edits),
    )
    unread, _, failing, good = ran.tool_results
    assert unread["is_error"] and "Read it first" in unread["content"]
    assert failing["is_error"] and "because edit 3 of 3 cannot be made" in failing["content"]
    assert good["data"]["structuredPatch"][0]["lines"] == ["-one", "-two", "-two", "+1", "+2", "+2"]
    assert good["data"]["originalFile"] == "one\ntwo\ntwo"
    assert path.read_bytes() == b"1\r\n2\r\n2"


def test_the_candidates_of_an_unclear_edit(runner: Runner) -> None:
    (runner.work / "a.py").write_text("def f():\n    pass\n\n\ndef g():\n    pass\n")
    ran = steps(
        runner,
        call("Read", file_path="a.py"),
        call("Edit", file_path="a.py", old_string="    pass", new_string="    return"),
        call("Edit", file_path="a.py", old_string="def g():\n    pass", new_string="g = f"),
    )
    _, unclear, clear = ran.tool_results
    assert "     1\tdef f():\n>    2\t    pass" in unclear["content"]
    assert "     5\tdef g():\n>    6\t    pass" in unclear["content"]
    assert clear["data"]["userModified"] is False
    assert (runner.work / "a.py").read_text() == "def f():\n    pass\n\n\ng = f\n"


@ALL_WIRES
def test_a_notebook_is_read_and_changed(runner: Runner) -> None:
    path = runner.work / "a.ipynb"
    path.write_text(json.dumps(notebook(), indent=1) + "\n")
    ran = steps(
        runner,
        call("Read", file_path="a.ipynb"),
        call("NotebookEdit", notebook_path="a.ipynb", new_source="show()", cell_id="plot"),
        call("NotebookEdit", notebook_path="a.ipynb", new_source="x", cell_id="nope"),
    )
    shown, changed, missing = ran.tool_results
    assert (
        "=== cell plot, code\nplot()\n--- output\n[picture 1, below]" in shown["content"][0]["text"]
    )
    assert b64encode(PNG).decode().encode() in runner.requests[1].body
    assert changed["data"]["cell_id"] == "plot"
    assert missing["is_error"] and "The cells are: top, plot." in missing["content"]
    expected = notebook()
    expected["cells"][1] |= {"source": ["show()"], "execution_count": None, "outputs": []}
    assert path.read_text() == json.dumps(expected, indent=1) + "\n"


def test_a_resumed_session_may_change_the_notebook_it_has_read(runner: Runner) -> None:
    path = runner.work / "a.ipynb"
    path.write_text(json.dumps(notebook()))
    change = call("NotebookEdit", notebook_path="a.ipynb", edit_mode="delete", cell_id="top")
    runner.serve(reply(call("Read", file_path="a.ipynb")), "read", reply(change), "changed")
    assert runner.prompt("read").code == 0
    assert runner.prompt("delete", "-c", *EDITS).code == 0
    assert [cell["id"] for cell in json.loads(path.read_text())["cells"]] == ["plot"]


def test_the_text_of_a_pdf(runner: Runner) -> None:
    (runner.work / "a.pdf").write_bytes(PDF)
    (runner.work / "bad.pdf").write_bytes(PDF[:60])
    ran = steps(
        runner,
        call("Read", file_path="a.pdf", pages="1"),
        call("Read", file_path="bad.pdf"),
        call("Read", file_path="a.pdf", pages="2-50"),
        call("Write", file_path="a.pdf", content="gone"),
    )
    good, bad, many, over = ran.tool_results
    assert good["content"].endswith("=== page 1\nwords on a page")
    assert (good["data"]["type"], good["data"]["file"]["totalPages"]) == ("pdf", 1)
    assert bad["is_error"] and "is damaged" in bad["content"]
    assert many["is_error"] and "at most 20 pages" in many["content"]
    assert not over["is_error"], "it was read"
    assert (runner.work / "a.pdf").read_text() == "gone"
    assert ran.stderr == "", "the library's complaints are not for people"


@pytest.mark.parametrize(
    "writing",
    [
        call("MultiEdit", file_path="x.ipynb", edits=[{"old_string": "", "new_string": "x"}]),
        call("NotebookEdit", notebook_path="x.ipynb", new_source="x", edit_mode="insert"),
    ],
    ids=["MultiEdit", "NotebookEdit"],
)
def test_rules_for_edits_hold_for_all_that_write(runner: Runner, writing: Call) -> None:
    ran = steps(runner, writing, args=(*EDITS, "--disallowedTools", "Edit(x.ipynb)"), code=3)
    (refused,) = ran.tool_results
    assert refused["is_error"] and refused["content"].startswith("Not run.")
    assert not (runner.work / "x.ipynb").exists()


def test_searches(runner: Runner) -> None:
    for number in range(150):
        (runner.work / f"{number:03}.py").write_text(f"x = {number}\ny = x\n")
    ran = steps(
        runner,
        call("Glob", pattern="*.py"),
        call("Grep", {"pattern": "x = 14\\d", "output_mode": "content", "-A": 1, "head_limit": 5}),
        call("Grep", pattern="x = (?!1)", output_mode="count", head_limit=1),
        call("Grep", pattern="f("),
        args=(),
    )
    names, lines, count, bad = ran.tool_results
    assert (names["data"]["numFiles"], names["data"]["truncated"]) == (100, True)
    assert "[50 more" in names["content"]
    expected = ["140.py:1:x = 140", "140.py-2-y = x", "--", "141.py:1:x = 141", "141.py-2-y = x"]
    assert lines["data"]["content"].split("\n") == expected
    assert (lines["data"]["numFiles"], lines["data"]["appliedLimit"]) == (10, 5)
    assert count["data"]["numMatches"] == 89, "look-around, too"
    assert bad["is_error"] and "unclosed group" in bad["content"]
