"""What counts of a memory file's text: imports, comments, the head of a rule."""

from __future__ import annotations

import pytest

from detent.context.memory.frontmatter import head_and_body
from detent.context.memory.markdown import imports_of, spellings, without_comments


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("@a.md", ["a.md"]),
        ("See @docs/a.md and @~/b.md, or @/etc/c.md", ["docs/a.md", "~/b.md,", "/etc/c.md"]),
        ("- @./x.md\n\t@y.md", ["./x.md", "y.md"]),
        ("@a.md @a.md", ["a.md"]),
        ("@with\\ blank.md", ["with blank.md"]),
        ("mail me@here.org, @@twice, @ alone, @(paren), @*star", []),
        ("`@a.md` and ``@b `c.md`` @d.md", ["d.md"]),
        ("`open @a.md\n\nanother `paragraph @b.md", ["a.md", "b.md"]),
        ("```\n@a.md\n```\n@b.md", ["b.md"]),
        ("~~~ts\n@a.md\n```\n@b.md\n~~~\n@c.md", ["c.md"]),
        ("````\n```\n@a.md\n````\n@b.md", ["b.md"]),
        ("  ```py\n  @decorator\n  ```\n@b.md", ["b.md"]),
        ("```never closed\n@a.md", []),
        ("``` `not a fence` ```\n@a.md", ["a.md"]),
        ("a span `over\ntwo @lines.md` @b.md", ["b.md"]),
    ],
)
def test_imports_stand_outside_of_code(text: str, names: list[str]) -> None:
    assert imports_of(text) == names


def test_a_name_in_a_sentence_loses_its_last_sign_only_where_needed() -> None:
    assert list(spellings("docs/a.md")) == ["docs/a.md"]
    assert list(spellings("docs/a.md.")) == ["docs/a.md.", "docs/a.md"]
    assert list(spellings("a.md#part")) == ["a.md#part", "a.md"]


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("a\n<!-- x -->\nb", "a\nb"),
        ("a\n<!-- x\ny\nz -->\nb", "a\nb"),
        ("a\n  <!-- x --> stays\nb", "a\n stays\nb"),
        ("a <!-- in a line --> b", "a <!-- in a line --> b"),
        ("```\n<!-- code -->\n```", "```\n<!-- code -->\n```"),
        ("a\n<!-- never ends\nb", "a\n<!-- never ends\nb"),
        ("<!---->\na", "a"),
        ("<!-- a -->\n<!-- b\n```\n-->\nc", "c"),
    ],
)
def test_block_comments_are_removed(text: str, left: str) -> None:
    assert without_comments(text) == left


@pytest.mark.parametrize(
    ("head", "globs"),
    [
        ("paths: src/*.ts", ("src/*.ts",)),
        ('paths: "src/**/*.ts"  # remark', ("src/**/*.ts",)),
        ("paths: 'src/a #1.ts'", ("src/a #1.ts",)),
        ("paths: src/*.ts # remark", ("src/*.ts",)),
        ("paths: a.md, b/{c,d}.md", ("a.md", "b/{c,d}.md")),
        ("paths: ['a,b.md', \"c.md\"]", ("a,b.md", "c.md")),
        ("paths:\n  - a.md\n  # remark\n  - 'b.md'\nother: x\n", ("a.md", "b.md")),
        ("paths:\n- a.md\n- a.md", ("a.md",)),
        ("description: x\npaths:\n", ()),
        ("description: the paths: of things", ()),
        ("paths: []", ()),
    ],
)
def test_the_paths_of_a_rule(head: str, globs: tuple[str, ...]) -> None:
    assert head_and_body(f"---\n{head}\n---\nbody\n") == (globs, "body\n")


def test_a_text_without_a_whole_head_is_all_body() -> None:
    for text in ("body", "---\npaths: a\nbody", "a\n---\npaths: b\n---\n", ""):
        assert head_and_body(text) == ((), text)
