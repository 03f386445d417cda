"""Sessions as a library hands them out."""

from __future__ import annotations

from pathlib import Path

import pytest
from sdkbench import Settings, run

from detent.sdk.session import Session
from detent.sdk.sessions import (
    Several,
    delete_sessions,
    name_session,
    reindex,
    resolve,
    search_sessions,
    sessions_of,
    show_session,
)
from detent.testing.scripted_model import ScriptedModel


def talk(settings: Settings, prompt: str, **more: object) -> str:
    async def body() -> str:
        model = ScriptedModel("an answer")
        async with Session(settings(model, persist=True, **more)) as session:
            await session.run_turn(prompt)
            return session.id

    return str(run(body))


def test_from_one_end_to_the_other(tmp_path: Path) -> None:
    settings = Settings(tmp_path)
    environ, cwd = settings.environ, str(settings.cwd)
    first = talk(settings, "of the walrus", name="sea")
    second = talk(settings, "of the oyster")
    assert [card.id for card in sessions_of(cwd, environ=environ)] == [second, first]
    assert resolve("sea", cwd=cwd, environ=environ) == first
    assert talk(settings, "more of it", resume="sea") == first
    assert talk(settings, "more of it", resume="oyster") == second
    with pytest.raises(Several) as several:
        talk(settings, "which?", resume="more of it")
    assert {card.id for card in several.value.cards} == {first, second}
    (hit,) = search_sessions("walrus", environ=environ)
    assert (hit.session, hit.step, hit.name) == (first, 1, "sea")
    assert search_sessions("walrus", cwd=str(tmp_path), environ=environ) == []
    assert name_session(second, "shore", cwd=cwd, environ=environ) == "shore"
    shown = show_session("shore", cwd=cwd, environ=environ)
    assert [turn.prompt for turn in shown.turns] == ["of the oyster", "more of it"]
    cards = sessions_of(everywhere=True, environ=environ)
    gone = delete_sessions([card for card in cards if card.id == first], environ=environ)
    assert gone.sessions == (first,)
    assert reindex(environ) == 1
