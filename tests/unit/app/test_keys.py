"""Who gives the key of a choice, and which variables hold keys."""

from __future__ import annotations

import asyncio
import json
import stat
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from msgspec.structs import replace

from detent.app.keys import credentials_for, key_variables, lacks_key, stored_key, with_stored_key
from detent.host.environment import is_credential
from detent.models.catalog import ModelFacts, ProviderFacts, catalog
from detent.models.credentials import Credentials
from detent.models.protocols.wire import Endpoint
from detent.models.providers import Choice
from detent.types.errors import BadInput, NoModel
from loopback import Peer, Server

PATHS = {"PATH": "/usr/bin:/bin"}


def choice(wire: str = "anthropic", **more: Any) -> Choice:
    about = ProviderFacts(wire, **more.pop("about", {}))
    return Choice("house", "m", wire, Endpoint("http://h"), ModelFacts(), about=about, **more)


async def headers(credentials: Credentials | None) -> dict[str, str]:
    assert credentials is not None
    return dict(await credentials.signed("http://h", {}, b""))


def test_a_variable_beats_the_command() -> None:
    given = choice(secret=(("x-api-key", "k"),), about={"key_helper": "echo other"})
    assert credentials_for(given, PATHS) is None
    assert credentials_for(choice(), PATHS) is None


def test_the_command_gives_the_key_in_both_forms() -> None:
    helped = replace(choice(about={"key_helper": "echo sk-1"}), provider="anthropic")
    got = asyncio.run(headers(credentials_for(helped, PATHS)))
    assert got == {"x-api-key": "sk-1", "authorization": "Bearer sk-1"}


@pytest.mark.parametrize(
    ("header", "sent"),
    [("", {"authorization": "Bearer sk-1"}), ("api-key", {"api-key": "sk-1"})],
)
def test_a_provider_of_ones_own_gets_the_key_its_way(header: str, sent: dict[str, str]) -> None:
    helped = choice("chat", about={"key_helper": "echo sk-1", "key_header": header})
    assert asyncio.run(headers(credentials_for(helped, PATHS))) == sent


def test_how_long_a_key_lasts_can_be_said(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    environ = {**PATHS, "CLAUDE_CODE_API_KEY_HELPER_TTL_MS": "0"}

    async def main() -> None:
        helper = f"echo x >> {runs}; echo key-one"
        credentials = credentials_for(choice(about={"key_helper": helper}), environ)
        await headers(credentials)
        await headers(credentials)

    asyncio.run(main())
    assert runs.read_text() == "x\nx\n"
    with pytest.raises(BadInput, match="TTL_MS must be"):
        environ["CLAUDE_CODE_API_KEY_HELPER_TTL_MS"] = "5m"
        credentials_for(choice(about={"key_helper": "echo k"}), environ)


def test_clouds_have_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    token = {"AWS_BEARER_TOKEN_BEDROCK": "bedrock-token"}
    got = asyncio.run(headers(credentials_for(choice("bedrock"), token)))
    assert got == {"authorization": "Bearer bedrock-token"}
    monkeypatch.setitem(sys.modules, "google.auth", None)
    with pytest.raises(NoModel, match="vertex"):
        credentials_for(choice("vertex", about={"cloud": True}), {})


def test_a_replaced_refresh_token_outlives_the_program(tmp_path: Path) -> None:
    forms: list[str] = []

    async def endpoint(peer: Peer) -> None:
        while True:
            forms.append((await peer.request())[2].decode())
            tokens = {"access_token": f"at-{len(forms)}", "refresh_token": f"rt-{len(forms)}"}
            data = json.dumps(tokens).encode()
            await peer.send(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%b" % (len(data), data))

    async def main() -> None:
        async with Server(endpoint) as server:
            settings = {
                "tokenUrl": f"http://127.0.0.1:{server.port}/token",
                "clientId": "me",
                "clientSecretEnv": "HOUSE_SECRET",
                "refreshTokenEnv": "HOUSE_REFRESH",
            }
            environ = {
                "DETENT_HOME": str(tmp_path),
                "HOUSE_SECRET": "hush",
                "HOUSE_REFRESH": "rt-0",
            }
            for given in ("rt-0", "rt-0", "rt-new"):
                environ["HOUSE_REFRESH"] = given
                wanted = choice("chat", about={"oauth": settings})
                await headers(credentials_for(wanted, dict(environ)))

    asyncio.run(main())
    assert ["refresh_token=rt-0&" in forms[0], "rt-1" in forms[1], "rt-new" in forms[2]] == [
        True
    ] * 3
    assert all("client_secret=hush" in form for form in forms)
    kept = tmp_path / "tokens" / "house.json"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert "rt-3" in kept.read_text() and "rt-new" not in kept.read_text()
    assert {path.name for path in kept.parent.iterdir()} == {"house.json", "house.json.lock"}


def test_a_fault_in_the_oauth_settings_is_named() -> None:
    with pytest.raises(BadInput, match=r"providers\.house\.oauth.*client_secret"):
        about = {"oauth": {"tokenUrl": "https://h/t", "client_secret": "typed here"}}
        credentials_for(choice("chat", about=about), {})


def keyring(monkeypatch: pytest.MonkeyPatch, **keys: str) -> list[tuple[str, str]]:
    asked: list[tuple[str, str]] = []

    def get_password(service: str, user: str) -> str | None:
        asked.append((service, user))
        if user == "xai":
            raise RuntimeError("locked")
        return keys.get(user)

    module = ModuleType("keyring")
    module.get_password = get_password  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "keyring", module)
    return asked


def test_the_keyring_fills_in_what_the_environment_lacks(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked = keyring(monkeypatch, anthropic="sk-stored\n", deepseek="two words")
    environ = {"DETENT_HOME": str(tmp_path)}
    known = catalog()
    filled = with_stored_key("", environ, known)
    assert filled == {"DETENT_HOME": str(tmp_path), "ANTHROPIC_API_KEY": "sk-stored"}
    assert environ == {"DETENT_HOME": str(tmp_path)}
    asked.clear()
    assert with_stored_key("deepseek/chat", environ, known) is environ, "that is no key"
    assert with_stored_key("xai/grok", environ, known) is environ, "a locked keyring has none"
    assert asked == [("detent", "deepseek"), ("detent", "xai")]


def test_the_keyring_is_asked_only_for_what_the_environment_lacks(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked = keyring(monkeypatch, openai="sk-stored")
    home = {"DETENT_HOME": str(tmp_path)}
    given = {**home, "ANTHROPIC_AUTH_TOKEN": "t", "OPENAI_BASE_URL": "http://h"}
    assert with_stored_key("anthropic/", given, catalog()) is given
    assert asked == []
    assert with_stored_key("openai/", given, catalog())["OPENAI_API_KEY"] == "sk-stored"
    assert asked == [("detent", "openai")]


@pytest.mark.parametrize(
    ("more", "lacks"),
    [
        ({"about": {"key_from": ("K",)}}, True),
        ({"about": {"token_from": ("K",)}}, True),
        ({}, False),
        ({"about": {"key_from": ("K",)}, "secret": (("x-api-key", "k"),)}, False),
        ({"about": {"key_from": ("K",), "key_helper": "echo k"}}, False),
        ({"about": {"key_from": ("K",), "oauth": {"tokenUrl": "https://h"}}}, False),
        ({"about": {"key_from": ("K",), "cloud": True}}, False),
    ],
)
def test_who_could_use_a_stored_key(more: Any, lacks: bool) -> None:
    assert lacks_key(choice(**more)) is lacks


def test_no_keyring_is_no_key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)
    assert stored_key("anthropic", {"DETENT_HOME": str(tmp_path)}) == ""


def test_a_provider_of_several_names_has_one_key(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked = keyring(monkeypatch, openai="sk-stored")
    environ, known = {"DETENT_HOME": str(tmp_path)}, catalog()
    filled = with_stored_key("openai-responses/gpt", environ, known)
    assert filled["OPENAI_API_KEY"] == "sk-stored"
    asked.clear()
    assert with_stored_key("", environ, known)["OPENAI_API_KEY"] == "sk-stored"
    assert len(asked) == len(set(asked)), "nobody is asked twice: each time may open a window"


def test_every_variable_of_the_catalog_that_holds_a_key_is_known() -> None:
    known = catalog()
    names = key_variables(known)
    assert {"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY"} <= names
    assert {name for name in names if not is_credential(name)} == set(), "children would get them"
    oauth = {"clientSecretEnv": "HOUSE_SECRET", "refreshTokenEnv": "HOUSE_REFRESH"}
    house = ProviderFacts("chat", token_from=("HOUSE_KEY",), oauth=oauth)
    more = key_variables(replace(known, providers={**known.providers, "house": house}))
    assert more - names == {"HOUSE_KEY", "HOUSE_SECRET", "HOUSE_REFRESH"}


def test_the_login_of_a_cloud_is_a_key_where_its_models_are_used() -> None:
    known = catalog()
    usual = key_variables(known, "anthropic")
    assert usual == key_variables(known)
    assert {"AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"} <= (
        key_variables(known, "anthropic", "bedrock") - usual
    )
    assert key_variables(known, "vertex") - usual == {"GOOGLE_APPLICATION_CREDENTIALS"}
