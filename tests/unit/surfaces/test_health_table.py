"""What `detent doctor` prints."""

from __future__ import annotations

from detent.sdk.doctor import Check, Health, Promised, SandboxHealth, SettingsFile
from detent.surfaces.tables.health_table import lines

CHECKS = (
    Check("model", "warning", "none", "set a key"),
    Check("settings", "ok", "2 files"),
    Check("settings", "problem", "a\x1b[2Jb\nc", "mend\u202e it"),
)
HEALTH = Health(
    "1.0", "3.12", "Linux", "/w", (SettingsFile("user", "/s"),), True, (),
    SandboxHealth(
        "auto", "bwrap", "workspace-write",
        (Promised("writes", "nothing is written", {"bwrap": True}, {"landlock": "too old"}),),
        ("a.example",),
    ),
    problems=("a\x1b[2Jb",),
    checks=CHECKS,
)  # fmt: skip


def test_the_whole_of_it() -> None:
    assert (
        "\n".join(lines(HEALTH))
        == """\
detent 1.0, Python 3.12, Linux
Folder: /w (trusted)
Settings:
  user     /s

! model      none
             → set a key
✓ settings   2 files
✗            a<U+001B>[2Jb
             c
             → mend<U+202E> it

Sandbox: bwrap (wanted: auto), profile workspace-write
                      bwrap     landlock
  nothing is written  held      NOT
  landlock: too old
Hosts that commands may reach: a.example

Problem: a<U+001B>[2Jb"""
    )


def test_for_a_screen_reader_words_stand_for_marks() -> None:
    told = lines(HEALTH, plain=True)
    assert told[5:11] == [
        "warning model      none",
        "                   to do: set a key",
        "ok      settings   2 files",
        "problem settings   a<U+001B>[2Jb\n                   c",
        "                   to do: mend<U+202E> it",
        "",
    ]
    assert all(line.isascii() for line in told)


def test_the_end_says_how_it_stands() -> None:
    assert lines(Health("1", "3", "x", "/w", checks=CHECKS[:2]))[-1] == "No problems, 1 warning."
    assert lines(Health("1", "3", "x", "/w", checks=CHECKS[1:2]))[-1] == "All is well."
