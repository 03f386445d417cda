"""The manual page: sound roff, and all of the help in it."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from detent.surfaces.cli.flags import FLAGS
from detent.surfaces.cli.help import ABOUT, KEYS, help_text
from detent.surfaces.cli.man import escaped, page
from detent.surfaces.tui.editing.keys import listed

REQUESTS = {".TH", ".SH", ".SS", ".TP", ".PP", ".B", ".br"}
SECTIONS = [
    "NAME", "SYNOPSIS", "DESCRIPTION", "EXAMPLES", "SUBCOMMANDS", "OPTIONS", "KEYS", "EXIT STATUS",
    "ENVIRONMENT", "FILES",
]  # fmt: skip
ESCAPE = re.compile(r"\\(?:[e&-]|\((?:aq|ga|ha|ti)|\[u[0-9A-F]{4,6}\]|f[BIR])")

TEXT = "\n".join(page())
LINES = TEXT.split("\n")


def test_the_first_line_names_the_page() -> None:
    assert re.fullmatch(r'\.TH DETENT 1 "" "detent \S+" "User Commands"', LINES[0])
    assert [line[4:] for line in LINES if line.startswith(".SH ")] == SECTIONS
    assert LINES[LINES.index(".SH NAME") + 1] == r"detent \- a coding agent for the terminal"


def test_every_line_is_sound() -> None:
    assert TEXT.isascii()
    for number, line in enumerate(LINES):
        assert line, f"line {number} is empty"
        assert not line.startswith("'")
        assert not line.startswith(".") or line.split()[0] in REQUESTS, line
        assert "\\" not in ESCAPE.sub("", line), line
        assert line.count(r"\fB") + line.count(r"\fI") == line.count(r"\fR"), line
    for number, line in enumerate(LINES):
        if line == ".TP":
            assert LINES[number + 1].startswith(r"\fB") and LINES[number + 2][0] != "."


def test_all_is_in_it() -> None:
    plain = TEXT.replace(r"\-", "-")
    for flag in FLAGS:
        if flag.help and not flag.only:
            assert f"\\fB{flag.name}\\fR" in plain
    assert [name for name in ABOUT if f".SS detent {name}" not in LINES] == []
    assert all(f"\\fB{escaped(key)}\\fR" in TEXT for key, _ in listed())


def test_what_roff_would_obey_is_escaped() -> None:
    assert escaped(".SH x") == r"\&.SH x"
    assert escaped("a\\b --c 'd' ~ ↑") == r"a\eb \-\-c \(aqd\(aq \(ti \[u2191]"


def test_keys_of_the_help_are_keys_of_the_session() -> None:
    known = {name for shown, _ in listed() for name in shown.split()}
    names = [word for keys, _ in KEYS for word in re.split(r"[, ]+|twice", keys) if word]
    assert [name for name in names if name not in known] == []
    assert all(f"  {key}" in help_text() for key, _ in KEYS)


def test_the_linter_of_manuals_is_content() -> None:
    if not shutil.which("mandoc"):
        pytest.skip("mandoc is not installed")
    ran = subprocess.run(
        ["mandoc", "-T", "lint", "-W", "error"],
        input=TEXT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stdout) == (0, "")
