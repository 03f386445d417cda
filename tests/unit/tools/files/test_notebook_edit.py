"""NotebookEdit."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from detent.testing.memory_host import MemoryHost
from detent.tools.files.notebook_edit import NotebookEditArgs
from detent.tools.files.notebooks import parsed
from detent.types.effects import Writes
from detent.types.outcomes import Done, Failed, Outcome, text_of

from ..conftest import Bench
from .test_edit import Faults
from .test_read_notebook import code, markdown, notebook, stream

Memory = Callable[..., Bench]

THREE = notebook(
    markdown(["# Title\n", "words"], id="intro"),
    code(["x = 1\n", "x"], stream("1"), id="calc"),
    code("y", id="last"),
)


def host_of(bench: Bench) -> MemoryHost:
    assert isinstance(bench.host, MemoryHost)
    return bench.host


def edit(bench: Bench, source: str, **more: Any) -> Outcome:
    bench.call("Read", file_path="a.ipynb")
    return bench.call("NotebookEdit", notebook_path="a.ipynb", new_source=source, **more)


def changed(memory: Memory, text: str, source: str, **more: Any) -> str:
    bench = memory({"/p/a.ipynb": text})
    outcome = edit(bench, source, **more)
    assert isinstance(outcome, Done), outcome
    return host_of(bench).text("/p/a.ipynb")


def fault(memory: Memory, text: str, source: str = "z", **more: Any) -> str:
    bench = memory({"/p/a.ipynb": text})
    outcome = edit(bench, source, **more)
    assert isinstance(outcome, Failed)
    assert host_of(bench).text("/p/a.ipynb") == text
    return outcome.text


def cells(text: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(text)["cells"]
    return found


def test_a_replaced_code_cell_loses_its_outputs(memory: Memory) -> None:
    """The file is as Jupyter itself would write it, to the byte."""
    expected = notebook(
        markdown(["# Title\n", "words"], id="intro"),
        code(["x = 2\n", "# grün"], id="calc", execution_count=None),
        code("y", id="last"),
    )
    bench = memory({"/p/a.ipynb": THREE})
    outcome = edit(bench, "x = 2\n# grün", cell_id="calc")
    assert host_of(bench).text("/p/a.ipynb") == expected
    assert text_of(outcome) == "Replaced cell calc in /p/a.ipynb."
    assert isinstance(outcome, Done)
    assert outcome.data == {
        "notebook_path": "/p/a.ipynb",
        "cell_id": "calc",
        "cell_type": "code",
        "edit_mode": "replace",
        "new_source": "x = 2\n# grün",
        "language": "python",
    }
    again = bench.call("NotebookEdit", notebook_path="a.ipynb", new_source="z", cell_id="last")
    assert isinstance(again, Done), "what it wrote is known"
    assert cells(host_of(bench).text("/p/a.ipynb"))[2]["source"] == "z", "in one piece as before"


def test_cells_by_position(memory: Memory) -> None:
    old = notebook(code("a"), code("b"), minor=4)
    assert cells(changed(memory, old, "z", cell_id="cell-1"))[1]["source"] == "z"
    assert cells(changed(memory, THREE, "z", cell_id="cell-2"))[2]["source"] == "z"
    named = notebook(code("a", id="cell-1"), code("b", id="x"))
    assert cells(changed(memory, named, "z", cell_id="cell-1"))[0]["source"] == "z", "ids first"


def test_inserted_cells(memory: Memory) -> None:
    text = changed(memory, THREE, "new\n", cell_id="calc", edit_mode="insert")
    new = cells(text)[2]
    assert len(new["id"]) == 8
    assert text == notebook(
        markdown(["# Title\n", "words"], id="intro"),
        code(["x = 1\n", "x"], stream("1"), id="calc"),
        code(["new\n"], id=new["id"], execution_count=None),
        code("y", id="last"),
    )
    text = changed(memory, THREE, "# top", edit_mode="insert", cell_type="markdown")
    assert cells(text)[0] == markdown(["# top"], id=cells(text)[0]["id"])
    assert cells(text)[1:] == cells(THREE)
    text = changed(memory, THREE, "", cell_id="last", edit_mode="insert")
    assert cells(text)[3]["source"] == []


def test_ids_belong_to_newer_formats_only(memory: Memory) -> None:
    bench = memory({"/p/a.ipynb": notebook(code("a"), minor=4)})
    said = text_of(edit(bench, "b", cell_id="cell-0", edit_mode="insert"))
    assert said == "Inserted cell cell-1 in /p/a.ipynb."
    assert all("id" not in cell for cell in cells(host_of(bench).text("/p/a.ipynb")))


def test_new_ids_are_unique(memory: Memory) -> None:
    bench = memory({"/p/a.ipynb": notebook()})
    for _ in range(3):  # the bench gives every call the same name
        assert isinstance(edit(bench, "x", edit_mode="insert"), Done)
    assert len({cell["id"] for cell in cells(host_of(bench).text("/p/a.ipynb"))}) == 3


@pytest.mark.parametrize(
    ("cell_id", "left"), [("intro", [1, 2]), ("calc", [0, 2]), ("last", [0, 1])]
)
def test_deleted_cells(memory: Memory, cell_id: str, left: list[int]) -> None:
    given = [
        markdown(["# Title\n", "words"], id="intro"),
        code(["x = 1\n", "x"], stream("1"), id="calc"),
        code("y", id="last"),
    ]
    text = changed(memory, THREE, "", cell_id=cell_id, edit_mode="delete")
    assert text == notebook(*(given[index] for index in left))


def test_the_last_cell_goes_and_the_first_comes(memory: Memory) -> None:
    empty = changed(memory, notebook(code("a", id="a")), "", cell_id="a", edit_mode="delete")
    assert empty == notebook()
    text = changed(memory, notebook(), "b", edit_mode="insert", cell_type="markdown")
    assert text == notebook(markdown(["b"], id=cells(text)[0]["id"]))


def test_a_cell_may_change_its_kind(memory: Memory) -> None:
    text = changed(memory, THREE, "words", cell_id="calc", cell_type="markdown")
    assert cells(text)[1] == markdown(["words"], id="calc")
    pictured = notebook(markdown("a", id="m", attachments={"x": {}}))
    text = changed(memory, pictured, "f()", cell_id="m", cell_type="code")
    assert text == notebook(code("f()", id="m", execution_count=None))
    kept = changed(memory, pictured, "b", cell_id="m")
    assert cells(kept)[0]["attachments"] == {"x": {}}


@pytest.mark.parametrize(
    "text",
    [
        '{"cells":[{"cell_type":"code","source":"a","metadata":{"n":1.50},"outputs":[]}],'
        '"nbformat":4,"nbformat_minor":4}',
        '{"nbformat": 4, "cells": [{"source": "a"}, {"source": "b", "x": 1e5}], "x": "\\u00e9"}\n',
        '{\n    "cells": [\n        {\n            "source": "a"\n        }\n    ]\n}',
        '\ufeff{\r\n\t"cells": [\r\n\t\t{\r\n\t\t\t"source": "a"\r\n\t\t}\r\n\t]\r\n}\r\n',
        ' { "cells" : [ {"source":"a" } , { } ] , "cells_": [] } ',
    ],
)
def test_every_layout_is_kept(memory: Memory, text: str) -> None:
    """A cell that comes and goes leaves no trace, and what is written looks like the rest."""
    bench = memory({"/p/a.ipynb": text})
    assert isinstance(edit(bench, "é", edit_mode="insert", cell_id="cell-0"), Done)
    between = host_of(bench).text("/p/a.ipynb")
    assert ("\n" in text.strip()) == ("\n" in between.strip())
    assert ("\r\n" in text) == ("\r\n" in between)
    assert ("\\u00e9" in text) == ("\\u00e9" in between.replace('"x": "\\u00e9"', ""))
    edit(bench, "", edit_mode="delete", cell_id="cell-1")
    assert host_of(bench).text("/p/a.ipynb") == text


def test_the_style_of_compact_files(memory: Memory) -> None:
    tight = '{"cells":[{"z":0,"source":"a"}]}'
    text = changed(memory, tight, "b", cell_id="cell-0", cell_type="markdown")
    assert text == '{"cells":[{"z":0,"source":"b","cell_type":"markdown"}]}'
    loose = '{"cells": [{"source": "a"}]}'
    text = changed(memory, loose, "b", cell_id="cell-0", cell_type="markdown")
    assert text == '{"cells": [{"cell_type": "markdown", "source": "b"}]}', "sorted as before"


def test_wrong_cells_are_named(memory: Memory) -> None:
    said = fault(memory, THREE, cell_id="nope")
    assert said == "NotebookEdit: there is no cell nope. The cells are: intro, calc, last."
    assert "cell_id is missing. The cells are: intro" in fault(memory, THREE)
    assert "cell_id is missing" in fault(memory, THREE, edit_mode="delete")
    assert "no cell cell-3" in fault(memory, THREE, cell_id="cell-3")
    assert "no cell x. The cells are: none." in fault(memory, notebook(), cell_id="x")


def test_what_is_no_notebook(memory: Memory) -> None:
    assert "cannot be changed as a notebook" in fault(memory, "{", cell_id="x")
    older = '{"worksheets": [], "nbformat": 3}'
    assert "jupyter nbconvert" in fault(memory, older, cell_id="x")
    assert "one of its cells is not an object" in fault(memory, '{"cells": [1]}', cell_id="x")
    bench = memory({"/p/a.py": "x"})
    said = bench.text("NotebookEdit", notebook_path="a.py", new_source="x")
    assert said == "NotebookEdit: /p/a.py is not a notebook (.ipynb): use Edit."
    said = bench.text("NotebookEdit", notebook_path="a.ipynb", new_source="x", cell_id="x")
    assert "/p/a.ipynb does not exist" in said


def test_it_must_have_been_read(memory: Memory) -> None:
    bench = memory({"/p/a.ipynb": THREE})
    arguments = {"notebook_path": "a.ipynb", "new_source": "z", "cell_id": "calc"}
    assert "Read it first" in bench.text("NotebookEdit", **arguments)
    bench.call("Read", file_path="a.ipynb")
    host_of(bench).put("/p/a.ipynb", THREE + " ")
    assert "has changed since it was read" in bench.text("NotebookEdit", **arguments)


def test_language_servers_are_not_asked(memory: Memory) -> None:
    bench = memory({"/p/a.ipynb": THREE})
    bench.shop.code = code_server = Faults()
    edit(bench, "z", cell_id="calc")
    assert code_server.asked == []


def test_of_two_lists_the_last_counts() -> None:
    found = parsed('{"cells": [{"id": "a"}], "x": {}, "cells": [{"id": "b"}, {"id": "c"}]}')
    assert [found.text[start:end] for start, end in found.spans] == ['{"id": "b"}', '{"id": "c"}']


def test_arguments(memory: Memory) -> None:
    tool = memory().registry.find("notebook_edit")
    assert tool is not None
    args = tool.parse('{"path": "a.ipynb", "edit_mode": "delete", "cell_id": "x"}')
    assert args == NotebookEditArgs("a.ipynb", "", "x", edit_mode="delete")
    assert tool.effects(args, "/p") == (Writes("/p/a.ipynb"),)
