"""Keys that the user has given us to keep: where they lie, who may read them, when they count."""

from __future__ import annotations

import asyncio
import json
import os
import stat
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from detent.app.grounds import grounds_of
from detent.app.keys import stored_key
from detent.app.options import Options
from detent.gate.paths import is_secret
from detent.sdk import keys
from detent.sdk.local_models import look_for_models
from detent.sdk.session import Session
from detent.types.errors import BadInput, NoModel

KEY = "sk-ant-never-to-be-seen"


class Box:
    """A home of one's own, and no keyring."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "state"
        self.work = folder / "work"
        self.work.mkdir()
        self.file = self.home / "keys.json"
        self.environ = {
            "HOME": str(folder),
            "DETENT_HOME": str(self.home),
            "DETENT_DISCOVERY_PORTS": "none",
        }

    def options(self, **more: Any) -> Options:
        given = {"cwd": str(self.work), "environ": self.environ, "managed_folders": ()}
        return Options(**{**given, "persist": False, **more})


@pytest.fixture
def box(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Box:
    monkeypatch.setitem(sys.modules, "keyring", None)
    made = Box(Path(os.path.realpath(tmp_path)))
    monkeypatch.chdir(made.work)
    return made


def keyring(monkeypatch: pytest.MonkeyPatch, *, forgets: bool = False) -> dict[str, str]:
    kept: dict[str, str] = {}
    module: Any = ModuleType("keyring")
    module.get_password = lambda service, user: kept.get(f"{service} {user}")
    module.delete_password = lambda service, user: kept.pop(f"{service} {user}")

    def set_password(service: str, user: str, key: str) -> None:
        if not forgets:
            kept[f"{service} {user}"] = key

    module.set_password = set_password
    monkeypatch.setitem(sys.modules, "keyring", module)
    return kept


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_without_a_keyring_it_lies_in_a_file_for_the_user_alone(box: Box) -> None:
    before = os.umask(0)
    try:
        assert keys.store_key("anthropic", f" {KEY}\n", box.environ) == str(box.file)
    finally:
        os.umask(before)
    assert (mode(box.home), mode(box.file)) == (0o700, 0o600)
    keys.store_key("openai", "sk-other", box.environ)
    assert json.loads(box.file.read_text())["keys"] == {"anthropic": KEY, "openai": "sk-other"}
    assert stored_key("anthropic", box.environ) == KEY
    assert keys.stored_providers(box.environ) == ("anthropic", "openai")
    assert keys.forget_key("anthropic", box.environ)
    assert not keys.forget_key("anthropic", box.environ)
    assert keys.stored_providers(box.environ) == ("openai",)
    assert KEY not in box.file.read_text()
    assert os.listdir(box.home) == ["keys.json"]


def test_a_keyring_that_works_gets_it(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    keys.store_key("anthropic", KEY, box.environ)
    kept = keyring(monkeypatch)
    assert keys.store_key("anthropic", KEY, box.environ) == keys.IN_KEYRING
    assert kept == {"detent anthropic": KEY}
    assert KEY not in box.file.read_text(), "one copy is enough"
    assert keys.stored_providers(box.environ) == ("anthropic",)
    assert stored_key("anthropic", box.environ) == KEY
    assert keys.forget_key("anthropic", box.environ)
    assert kept == {} and keys.stored_providers(box.environ) == ()


def test_one_that_only_seems_to_work_does_not(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    keyring(monkeypatch, forgets=True)
    assert keys.store_key("anthropic", KEY, box.environ) == str(box.file)


@pytest.mark.parametrize(
    ("provider", "key", "said"),
    [
        ("nobody", KEY, "'nobody' takes no key; known are anthropic"),
        ("bedrock", KEY, "'bedrock' takes no key"),
        ("anthropic", " ", "is empty"),
        ("anthropic", f"{KEY}\nx-evil: 1", "characters that no key has"),
    ],
)
def test_what_is_no_key_is_not_kept_nor_told(box: Box, provider: str, key: str, said: str) -> None:
    with pytest.raises(BadInput, match=said) as error:
        keys.store_key(provider, key, box.environ)
    assert KEY not in str(error.value)
    assert not box.home.exists()


@pytest.mark.parametrize(
    ("text", "bits", "said"),
    [
        ({"version": 1, "keys": {"anthropic": KEY}}, 0o644, "can be read by other users"),
        ({"version": 1, "keys": {"anthropic": KEY}}, 0o622, "can be written by other users"),
        ({"version": 2, "keys": {"anthropic": KEY}}, 0o600, "is of another version"),
        ({"keys": [KEY]}, 0o600, "is damaged"),
        (f'{{"keys": {{"anthropic": {KEY}', 0o600, "is damaged"),
    ],
)
def test_a_file_that_is_in_doubt_gives_no_key_and_that_is_told(
    box: Box, text: Any, bits: int, said: str
) -> None:
    box.home.mkdir()
    written = text if isinstance(text, str) else json.dumps(text)
    box.file.write_text(written)
    box.file.chmod(bits)
    with pytest.raises(NoModel, match=said) as error:
        Session(box.options())
    assert KEY not in str(error.value)
    with pytest.raises(BadInput, match=said):
        keys.store_key("anthropic", "sk-ant-new", box.environ)
    assert box.file.read_text() == written and mode(box.file) == bits
    box.environ["ANTHROPIC_API_KEY"] = "k"
    news = [notice.text for notice in Session(box.options()).news()]
    assert any(said in text for text in news), "also where it is not needed"
    assert KEY not in str(news)


def test_what_lies_in_the_project_is_not_believed(box: Box) -> None:
    inside = {**box.environ, "DETENT_HOME": str(box.work / "conf")}
    with pytest.raises(BadInput, match="in the project"):
        keys.store_key("anthropic", KEY, inside)
    (box.work / "conf").mkdir()
    (box.work / "conf/keys.json").write_text(json.dumps({"keys": {"anthropic": KEY}}))
    (box.work / "conf/keys.json").chmod(0o600)
    assert stored_key("anthropic", inside) == ""


def test_a_stored_key_is_a_key(box: Box) -> None:
    """For the model that is taken when nobody names one, and for whoever asks what there is."""
    with pytest.raises(NoModel):
        Session(box.options())
    assert not asyncio.run(look_for_models(box.environ)).any
    keys.store_key("gemini", "AIza-x", box.environ)
    assert Session(box.options()).model.startswith("gemini")
    at_hand = asyncio.run(look_for_models(box.environ))
    assert (at_hand.any, at_hand.stored, at_hand.keys) == (True, ("gemini",), ())
    keys.store_key("anthropic", KEY, box.environ)
    assert Session(box.options()).model.startswith("claude")
    assert Session(box.options(model="gemini-3.8-flash")).model == "gemini-3.8-flash"


def test_a_variable_beats_it(box: Box) -> None:
    keys.store_key("anthropic", KEY, box.environ)
    box.environ["OPENAI_API_KEY"] = "k"
    assert Session(box.options()).model.startswith("gpt")


@pytest.mark.parametrize("model", ["", "sonnet", "anthropic/claude-sonnet-5-5"])
def test_a_gateway_on_this_machine_gets_it_too(box: Box, model: str) -> None:
    keys.store_key("anthropic", KEY, box.environ)
    box.environ["ANTHROPIC_BASE_URL"] = "http://127.0.0.1:9"
    session = Session(box.options(model=model))
    (route,) = session._engine.kit.model._routes  # type: ignore[attr-defined]
    headers = asyncio.run(route._credentials.signed("http://127.0.0.1:9", {}, b""))
    assert headers["x-api-key"] == KEY


def test_it_is_in_no_environment_that_others_get(box: Box) -> None:
    keys.store_key("anthropic", KEY, box.environ)
    grounds = grounds_of(box.options())
    grounds.model(grounds.options)
    assert KEY not in str(dict(grounds.environ)) and KEY not in str(dict(os.environ))


def test_tools_leave_the_file_alone() -> None:
    assert is_secret("/home/me/.detent/keys.json")
    assert not is_secret("/home/me/.detent/settings.json")


@pytest.mark.parametrize(
    ("key", "provider"),
    [
        ("sk-ant-api03-x", "anthropic"),
        ("sk-or-v1-x", "openrouter"),
        ("sk-proj-x", "openai"),
        (" sk-x\n", "openai"),
        ("AIzaSyX", "gemini"),
        ("gsk_x", "groq"),
        ("xai-x", "xai"),
        ("something", ""),
        ("", ""),
    ],
)
def test_a_key_tells_whose_it_is(key: str, provider: str) -> None:
    assert keys.provider_of_key(key) == provider


def test_who_takes_a_key(box: Box) -> None:
    known = keys.known_providers(box.environ)
    assert known[0] == ("anthropic", "Anthropic", "ANTHROPIC_API_KEY")
    assert known[1] == ("openai", "OpenAI", "OPENAI_API_KEY")
    variables = [variable for _, _, variable in known]
    assert len(set(variables)) == len(variables)
    assert all(title != name for name, title, _ in known), "people read them"
    assert set(keys.BEGINNINGS.values()) <= {name for name, _, _ in known}
    box.home.mkdir()
    house = {"wire": "chat", "baseUrl": "http://h", "apiKeyEnv": "HOUSE_KEY", "model": "m"}
    (box.home / "settings.json").write_text(json.dumps({"providers": {"house": house}}))
    assert ("house", "house", "HOUSE_KEY") in keys.known_providers(box.environ)
    keys.store_key("house", "secret-of-the-house", box.environ)
    assert Session(box.options(model="house/m")).model == "m"
