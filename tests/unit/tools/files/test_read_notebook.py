"""Read: Jupyter notebooks."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable
from typing import Any

from detent.types.content import Image
from detent.types.outcomes import Done, Failed, text_of

from ..conftest import Bench
from .test_read import png

Memory = Callable[..., Bench]


def notebook(*cells: dict[str, Any], minor: int = 5, **more: Any) -> str:
    """As Jupyter writes it."""
    about = {"language_info": {"name": "python"}}
    whole = {"cells": cells, "metadata": about, "nbformat": 4, "nbformat_minor": minor, **more}
    return json.dumps(whole, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def code(source: Any, *outputs: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "execution_count": 1,
        "metadata": {},
        "outputs": outputs,
        "source": source,
        **more,
    }


def markdown(source: Any, **more: Any) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": source, **more}


def stream(text: Any) -> dict[str, Any]:
    return {"output_type": "stream", "name": "stdout", "text": text}


def shown(kind: str, data: Any) -> dict[str, Any]:
    return {
        "output_type": "display_data",
        "metadata": {},
        "data": {kind: data, "text/plain": "<F>"},
    }


def read(memory: Memory, text: str, **more: Any) -> Done:
    outcome = memory({"/p/a.ipynb": text}).call("Read", file_path="a.ipynb", **more)
    assert isinstance(outcome, Done)
    return outcome


def test_cells_with_ids_sources_and_outputs(memory: Memory) -> None:
    text = notebook(
        markdown(["# Title\n", "words"], id="intro"),
        code("1/0", {"output_type": "error", "ename": "E", "traceback": ["\x1b[31mE\x1b[0m: 0"]}),
        code(["x = 2\n", "x"], stream(["hi\n", "ho\n"]), {
            "output_type": "execute_result", "data": {"text/plain": ["2"], "text/html": "<b>"},
        }, id="sum"),
        code("f()", {"output_type": "display_data", "data": {"application/x": {}}}),
    )  # fmt: skip
    bench = memory({"/p/a.ipynb": text})
    outcome = bench.call("Read", file_path="a.ipynb")
    assert text_of(outcome) == (
        "[/p/a.ipynb: a notebook in python with 4 cells.]\n\n"
        "=== cell intro, markdown\n# Title\nwords\n\n"
        "=== cell cell-1, code\n1/0\n--- output\nE: 0\n\n"
        "=== cell sum, code\nx = 2\nx\n--- output\nhi\nho\n2\n\n"
        "=== cell cell-3, code\nf()\n--- output\n[application/x]"
    )
    assert isinstance(outcome, Done) and outcome.data is not None
    assert outcome.data["type"] == "notebook"
    assert outcome.data["file"]["filePath"] == "/p/a.ipynb"
    first = {"cell_id": "intro", "cellType": "markdown", "source": "# Title\nwords"}
    assert outcome.data["file"]["cells"][0] == first
    assert "/p/a.ipynb" in bench.known, "NotebookEdit may change it now"


def test_pictures_among_the_outputs(memory: Memory) -> None:
    encoded = b64encode(png(10, 10)).decode()
    broken = code("c", shown("image/png", "!!"))
    large = code("d", shown("image/png", b64encode(png(9_000, 1)).decode()))
    unknown = code("e", shown("image/png", b64encode(b"text").decode()))
    lines = [encoded[:40] + "\n", encoded[40:] + "\n"]
    outcome = read(memory, notebook(code("a", shown("image/png", lines)), broken, large, unknown))
    _, image = outcome.content
    assert image == Image("image/png", encoded)
    said = text_of(outcome)
    assert "a\n--- output\n[picture 1, below]" in said
    assert "c\n--- output\n[a damaged picture]" in said
    assert "d\n--- output\n[a picture, 9,000 pixels long; models take" in said
    assert "e\n--- output\n[a picture, of an unknown kind]" in said
    many = read(memory, notebook(*(code("a", shown("image/png", encoded)) for _ in range(7))))
    assert len(many.content) == 6
    assert text_of(many).count("left out: no more are shown in one go") == 2
    heavy = shown("image/png", b64encode(png(10, 10, 3_000_000)).decode())
    assert len(read(memory, notebook(code("a", heavy, heavy))).content) == 2, "5 MiB in all"


def test_pictures_of_cells_that_do_not_fit_stay_away(memory: Memory) -> None:
    picture = shown("image/png", b64encode(png(10, 10)).decode())
    text = notebook(code("x" * 20_000, picture), code("y" * 20_000, picture))
    assert len(read(memory, text).content) == 2
    second = read(memory, text, offset=2)
    assert "[picture 1, below]" in text_of(second)
    assert len(second.content) == 2


def test_texts_of_other_kinds(memory: Memory) -> None:
    latex = {"output_type": "execute_result", "data": {"text/latex": ["$x$"], "text/html": "<p>"}}
    assert text_of(read(memory, notebook(code("x", latex)))).endswith("--- output\n$x$")


def test_long_outputs_lose_their_middle(memory: Memory) -> None:
    said = text_of(read(memory, notebook(code("f()", stream("a" * 50_000 + "end")))))
    assert len(said) < 4_500
    assert "[... 46,003 characters left out ...]" in said
    assert said.endswith("end")


def test_one_long_cell_is_cut_for_the_model_and_for_programs(memory: Memory) -> None:
    outcome = read(memory, notebook(code("x" * 500_000), code("y")))
    assert text_of(outcome).endswith("more characters]") and len(text_of(outcome)) < 28_300
    assert outcome.data is not None
    (cell,) = outcome.data["file"]["cells"]
    assert len(cell["source"]) < 28_100


def test_long_notebooks_come_in_parts(memory: Memory) -> None:
    text = notebook(*(code(f"# {n}\n" + "x" * 5_000) for n in range(12)))
    said = text_of(read(memory, text))
    assert said.startswith(
        "[/p/a.ipynb: a notebook in python with 12 cells, 1-5 shown; go on with offset=6.]"
    )
    assert len(said) < 28_000
    said = text_of(read(memory, text, offset=6, limit=2))
    assert "6-7 shown; go on with offset=8" in said
    assert "=== cell cell-5, code\n# 5\n" in said
    assert "12 cells.]" in text_of(read(memory, text, offset=12))
    late = memory({"/p/a.ipynb": text}).call("Read", file_path="a.ipynb", offset=13)
    assert isinstance(late, Failed) and "has 12 cells" in late.text
    assert "with 0 cells.]" in text_of(read(memory, notebook()))


def test_what_is_no_notebook_is_shown_as_text(memory: Memory) -> None:
    """It may have to be mended with Edit."""
    bench = memory({"/p/a.ipynb": '{"cells": [\n', "/p/b.ipynb": "[]", "/p/c.ipynb": ""})
    said = bench.text("Read", file_path="a.ipynb")
    assert said.startswith("[/p/a.ipynb: not shown as a notebook: ")
    assert said.endswith('     1\t{"cells": [')
    assert "it has no list of cells" in bench.text("Read", file_path="b.ipynb")
    assert bench.text("Read", file_path="c.ipynb") == "/p/c.ipynb is empty."
    assert len(bench.known) == 3
    deep = memory({"/p/a.ipynb": "[" * 100_000}).text("Read", file_path="a.ipynb")
    assert "not shown as a notebook" in deep


def test_strange_cells_do_no_harm(memory: Memory) -> None:
    cells: list[Any] = [
        {},
        {"cell_type": 3, "source": 5, "outputs": 7, "id": 9},
        {"cell_type": "code", "outputs": [1, {}, {"output_type": "error"}, {"data": []}]},
        {"cell_type": "code", "source": ["a", 1, "b"], "outputs": [{"data": {"image/png": 4}}]},
        {"cell_type": "code", "source": "\ud800"},
    ]
    text = json.dumps({"cells": cells, "metadata": 1, "nbformat": "x"})
    said = text_of(read(memory, text))
    assert "=== cell cell-3, code\nab\n--- output\n[" in said
