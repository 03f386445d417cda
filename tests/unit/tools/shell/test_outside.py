"""Which commands leave the sandbox: only what is plainly one command that the user named."""

from __future__ import annotations

import pytest

from detent.tools.shell.outside import is_excluded


@pytest.mark.parametrize(
    ("pattern", "command", "excluded"),
    [
        ("docker", "docker", True),
        ("docker", "docker ps -a", True),
        ("docker *", "docker run x:1", True),
        ("docker:*", "docker run x:1", True),
        ("make up", "make up", True),
        ("make up", "make up down", False),
        ("make up", "make", False),
        ("make up *", "make up now", True),
        ("docker", "dockerx ps", False),
        ("docker", "/tmp/docker ps", False),
        ("docker", "docker ps; rm x", False),
        ("docker", "docker ps && rm x", False),
        ("docker", "docker ps | sh", False),
        ("docker", "docker ps\nrm x", False),
        ("docker", "docker $(rm x)", False),
        ("docker", "docker `rm x`", False),
        ("docker", "docker $X", False),
        ("docker", "docker > x", False),
        ("docker", "docker 'a b'", False),
        ("docker", "docker {a,b}", False),
        ("docker", "docker ~/x", False),
        ("docker", "docker *", False),
        ("docker", "A=b docker ps", False),
        ("A=b", "A=b docker ps", False),
        ("docker", " docker ps", False),
        ("*", "anything", False),
        ("", "anything", False),
    ],
)
def test_only_a_plain_command_that_is_named(pattern: str, command: str, excluded: bool) -> None:
    assert is_excluded(command, [pattern]) is excluded


def test_nothing_is_excluded_by_no_pattern() -> None:
    assert not is_excluded("docker ps", ())
