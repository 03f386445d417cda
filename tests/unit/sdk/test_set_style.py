"""Another output style while a session runs."""

from __future__ import annotations

import pytest
from sdkbench import Settings, run

from detent.sdk.replay import verify
from detent.sdk.session import Session
from detent.testing.scripted_model import ScriptedModel
from detent.types.errors import BadInput
from detent.types.running import Equipped


def test_another_style_counts_from_the_next_turn_on(settings: Settings) -> None:
    """The log tells of the new prompt, so that a replay makes the same requests."""
    (settings.home / "output-styles").mkdir()
    (settings.home / "output-styles/terse.md").write_text("Answer in one line. " * 100)
    model = ScriptedModel("one", "two", "three")

    async def play() -> tuple[str, list[int]]:
        async with Session(settings(model, persist=True)) as session:
            await session.run_turn("go")
            base = [session._engine.kit.conversation.base]
            await session.set_output_style("TERSE")
            assert session.output_style == "terse"
            base.append(session._engine.kit.conversation.base)
            await session.run_turn("go on")
            await session.set_output_style("default")
            await session.run_turn("go on")
            equipped = [entry for entry in session.entries if isinstance(entry, Equipped)]
            assert ["Answer in one line." in str(one.system) for one in equipped] == [
                False,
                True,
                False,
            ]
            return session.path, base

    path, base = run(play)
    systems = ["\n".join(request.system) for request in model.requests]
    assert ["Answer in one line." in system for system in systems] == [False, True, False]
    assert systems[0] == systems[2]
    assert base[1] > base[0] + 200, "what the prompt takes is reckoned anew"
    verify(path)


def test_one_that_is_not_there_changes_nothing(settings: Settings) -> None:
    session = Session(settings(ScriptedModel("x")))
    before = session.prompt

    async def play() -> None:
        async with session:
            await session.set_output_style("None Such")

    with pytest.raises(BadInput, match="there is no output style 'None Such'; there are default"):
        run(play)
    assert (session.prompt, session.output_style) == (before, "default")


def test_not_in_the_middle_of_a_turn(settings: Settings) -> None:
    async def play() -> None:
        async with Session(settings(ScriptedModel("x"))) as session:
            turn = session.send("go")
            await anext(turn)
            with pytest.raises(RuntimeError, match="a turn is running"):
                await session.set_output_style("concise")
            await turn.aclose()

    run(play)
