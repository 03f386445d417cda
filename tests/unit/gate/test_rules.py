"""The rule language: parsing, patterns with every anchor, and the shapes a rule may not take."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from detent.gate.patterns import Anchors, PathPattern
from detent.gate.patterns import compiled as compiled_at
from detent.gate.rules import parse_rule
from detent.tools.registry import canonical_name
from detent.types.errors import BadInput

CWD, HOME = "/w/app", "/home/dev"


def compiled(pattern: str, cwd: str, home: str, *, anywhere: bool) -> PathPattern:
    return compiled_at(pattern, Anchors(cwd, home, cwd), anywhere=anywhere)


@pytest.mark.parametrize(
    ("text", "tool", "what"),
    [
        ("Bash", "Bash", ""),
        (" Bash ", "Bash", ""),
        ("Bash(*)", "Bash", ""),
        ("Bash()", "Bash", ""),
        ("Bash( )", "Bash", ""),
        ("Bash(:*)", "Bash", ""),
        ("*", "*", ""),
        ("mcp__*", "mcp__*", ""),
        ("Bash(npm run (x):*)", "Bash", "npm run (x):*"),
        ("read_file(docs/**)", "Read", "docs/**"),
        ("mcp__a-b__c_d", "mcp__a-b__c_d", ""),
        ("Read(a\nb)", "Read", "a\nb"),
    ],
)
def test_a_rule_is_a_tool_and_what(text: str, tool: str, what: str) -> None:
    rule = parse_rule(text, canonical_name)
    assert (rule.tool, rule.what, rule.text) == (tool, what, text.strip())


@pytest.mark.parametrize("text", ["", "Bash(", "Bash)x(", "(x)", "Bash (x)", "Bash(x", "a b"])
def test_what_is_no_rule_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="not a permission rule"):
        parse_rule(text, canonical_name)


@pytest.mark.parametrize(
    ("pattern", "path", "allow", "deny"),
    [
        # absolute, home, settings folder, working folder
        ("//etc/hosts", "/etc/hosts", True, True),
        ("//etc/**", "/etc/a/b", True, True),
        ("//etc/**", "/w/app/etc/a", False, False),
        ("~/x.md", "/home/dev/x.md", True, True),
        ("~/x/**", "/home/dev/x/y/z", True, True),
        ("~", "/home/dev/anything", True, True),
        ("/docs/**", "/w/app/docs/a", True, True),
        ("/docs/**", "/docs/a", False, False),
        ("/docs/**", "/w/app/x/docs/a", False, False),
        ("docs/**", "/w/app/docs/a", True, True),
        ("./docs/**", "/w/app/docs/a/b", True, True),
        ("docs/**", "/w/app/x/docs/a", False, True),
        ("a/docs/**", "/w/app/x/a/docs/f", False, True),
        ("../other/**", "/w/other/a", True, True),
        # bare names at any depth
        (".env", "/w/app/.env", True, True),
        (".env", "/w/app/a/b/.env", True, True),
        (".env", "/w/app/a.env", False, False),
        ("*.md", "/w/app/a/b/x.md", True, True),
        ("private", "/w/app/private/x", True, True),
        ("private/", "/w/app/private/x", True, True),
        (".", "/w/app/x/y", True, True),
        ("./", "/w/app/x", True, True),
        ("**", "/w/app/x/y", True, True),
        ("**", "/w/application/x", False, False),
        ("**/x.md", "/w/app/x.md", True, True),
        ("a/**/b", "/w/app/a/b", True, True),
        ("a/**/b", "/w/app/a/x/y/b", True, True),
        # stars, questions, classes
        ("a/*.md", "/w/app/a/x.md", True, True),
        ("a/*.md", "/w/app/a/b/x.md", False, False),
        ("a/?.md", "/w/app/a/x.md", True, True),
        ("a/?.md", "/w/app/a/xx.md", False, False),
        ("a/[xy].md", "/w/app/a/y.md", True, True),
        ("a/[!xy].md", "/w/app/a/y.md", False, False),
        ("a/[!xy].md", "/w/app/a/z.md", True, True),
        ("a[!x]b", "/w/app/a/b", False, False),
        ("/do**cs", "/w/app/do/x/cs", False, True),
        # regular expressions have no meaning here
        ("a.b", "/w/app/axb", False, False),
        ("a+", "/w/app/aa", False, False),
        ("[z-a]", "/w/app/[z-a]", True, True),
        ("[\\]", "/w/app/\\", True, True),
    ],
)  # fmt: skip
def test_patterns(pattern: str, path: str, allow: bool, deny: bool) -> None:
    assert compiled(pattern, CWD, HOME, anywhere=False).matches(path) is allow
    assert compiled(pattern, CWD, HOME, anywhere=True).matches(path) is deny


@pytest.mark.parametrize("folder", ["/w/[id]", "/w/a*b", "/w/a.b+c", "/w/{x}"])
def test_the_working_folder_is_taken_literally(folder: str) -> None:
    pattern = compiled("private/**", folder, HOME, anywhere=True)
    assert pattern.matches(f"{folder}/private/x")
    assert not pattern.matches("/w/axb/private/x")


def test_who_names_the_folder_touches_its_files() -> None:
    pattern = compiled("private/**", CWD, HOME, anywhere=True)
    assert pattern.touches("/w/app/private")
    assert not pattern.touches("/w/app/privately")


def test_a_restriction_also_holds_at_the_place_a_link_leads_to(tmp_path: Path) -> None:
    real = Path(os.path.realpath(tmp_path))
    (real / "target").mkdir()
    (real / "home").symlink_to(real / "target")
    home = str(real / "home")
    there = str(real / "target" / "keys" / "id")
    assert compiled("~/keys/**", CWD, home, anywhere=True).matches(there)
    assert not compiled("~/keys/**", CWD, home, anywhere=False).matches(there)
