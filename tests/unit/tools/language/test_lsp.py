"""LSP: what the tool takes and says. What servers answer is in language/."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from detent.ports import BadArguments
from detent.tools.registry import Registry
from detent.types.effects import Reads
from detent.types.outcomes import Done, Failed, text_of

FILES = {"/p/a.py": "x = 1\n", "/p/sub/b.py": ""}


class Oracle:
    """Keeps what it was asked; knows one thing."""

    def __init__(self) -> None:
        self.asked: list[tuple[Any, ...]] = []

    async def look(self, *question: Any) -> str:
        self.asked.append(question)
        if question[-1] == "unknown":
            raise LookupError("no language server for .py files was found. Use Grep instead")
        return "it is there"

    async def faults(self, path: str, before: str, after: str) -> str:
        return ""


@pytest.fixture
def bench(memory: Callable[..., Any]) -> Any:
    made = memory(FILES)
    made.shop.code = Oracle()
    return made


def parsed(**arguments: Any) -> Any:
    tool = Registry().find("LSP")
    assert tool is not None
    return tool.parse(json.dumps(arguments))


def test_a_question_and_its_answer(bench: Any) -> None:
    outcome = bench.call("LSP", action="definition", path="a.py", line=1, character=2, query="x")
    assert bench.shop.code.asked == [("definition", "/p/a.py", 1, 2, "x")]
    assert isinstance(outcome, Done) and text_of(outcome) == "it is there"
    assert outcome.data == {
        "operation": "definition",
        "filePath": "/p/a.py",
        "result": "it is there",
    }


def test_names_that_models_know_from_elsewhere(bench: Any) -> None:
    bench.call("lsp", operation="goToDefinition", filePath="/p/a.py", line="3", character="4")
    bench.call("LSP", operation="documentSymbol", file_path="a.py", symbol="Box", column=None)
    assert bench.shop.code.asked == [
        ("definition", "/p/a.py", 3, 4, ""),
        ("symbols", "/p/a.py", 0, 0, "Box"),
    ]


def test_an_unknown_action_is_told_the_known_ones() -> None:
    with pytest.raises(BadArguments, match=r"\"definition\" \| \"diagnostics\""):
        parsed(action="rename", path="a.py")


def test_no_answer_is_a_failure_that_leads_on(bench: Any) -> None:
    outcome = bench.call("LSP", action="hover", path="a.py", query="unknown")
    assert isinstance(outcome, Failed)
    assert outcome.text == ("LSP: no language server for .py files was found. Use Grep instead.")


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("b.py", "/p/b.py does not exist"),
        ("sub", "/p/sub is a folder, not a file. It holds:\nb.py"),
        ("", "hover needs `path`"),
    ],
)
def test_a_file_that_is_none(bench: Any, path: str, said: str) -> None:
    assert said in bench.text("LSP", action="hover", path=path, query="x")
    assert bench.shop.code.asked == []


def test_symbols_are_searched_from_the_working_folder(bench: Any) -> None:
    bench.call("LSP", action="symbols", query="Box")
    assert bench.shop.code.asked == [("symbols", "/p", 0, 0, "Box")]


def test_effects_are_the_file_or_the_whole_folder() -> None:
    tool = Registry().find("LSP")
    assert tool is not None
    one = tool.effects(parsed(action="hover", path="a.py", query="x"), "/p")
    all_ = tool.effects(parsed(action="symbols", path="a.py", query="x"), "/p")
    assert (one, all_) == ((Reads("/p/a.py"),), (Reads("/p/a.py"), Reads("/p")))
    assert not tool.moves(parsed(action="hover"))


def test_cancelling_reaches_the_question(bench: Any) -> None:
    class Silent(Oracle):
        async def look(self, *question: Any) -> str:
            self.asked.append(question)
            await asyncio.Event().wait()
            return ""

    bench.shop.code = Silent()

    async def cancelled() -> None:
        asking = asyncio.create_task(bench.acall("LSP", action="symbols", path="a.py"))
        while not bench.shop.code.asked:
            await asyncio.sleep(0)
        asking.cancel()
        await asking

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancelled())
