"""`.gitignore` as git reads it: git itself is the judge."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from detent.host.ignoring import MOST_BYTES, Ignoring, read_rules, rules_above

FILES = [
    "a", "b.txt", "c.log", "keep.log", "Ab.TXT", "#x", "!y", "x y", "t ", "a[1]", "ü.txt", "-",
    "d/a", "d/b.txt", "d/keep.log",
    "d/e/c.log", "d/e/f/a", "out/a", "out/e/b.txt", "e/out/a", "e/d/b.txt",
]  # fmt: skip
PIECES = st.sampled_from(
    ["a", "b", "c", "d", "e", "f", "out", "keep", "txt", "log", ".", "*", "**", "?", "/", "/", "!",
     "#", "[ab]",
     "[!a]", "[^a-c]", "[a-e]", "[[:alpha:]]", "[]-]", "[a", "\\", " ", "ü", "-", "x y",
     "**/", "/**", "/**/", "[[]1]", "*.", ".txt", "t"]
)  # fmt: skip
LINES = (
    st.lists(PIECES, min_size=1, max_size=5)
    .map("".join)
    # `e**/a`: git cuts the `e` off first, and then takes what is left for `**/a`.
    .filter(lambda line: not re.search(r"[^/]\*\*|\*\*[^/]", line.removeprefix("!")))
)
RULES = st.lists(
    st.one_of(
        LINES,
        st.sampled_from(
            ["*.log", "!keep.log", "/out", "out/", "d/*", "!d/e", "d/**", "**/a", "*", "!*/", "!a",
             "# no", "", "  ", "d/e/", "/d/*.txt", "\\#x", "\\!y", "t\\ ", "a.txt ", "*.TXT"]
        ),
    ),
    max_size=6,
)  # fmt: skip


def by_git(root: Path, paths: list[str]) -> set[str]:
    asked = subprocess.run(
        ["git", "-C", str(root), "check-ignore", "--no-index", "-z", "--stdin"],
        input="\0".join(paths).encode(),
        capture_output=True,
        check=False,
    )
    assert asked.returncode in (0, 1), asked.stderr
    return set(asked.stdout.decode().split("\0")) - {""}


def by_us(root: Path) -> set[str]:
    """Everything that a walk leaves out, and what lies in it."""
    above, lead = rules_above(str(root))
    found: set[str] = set()

    def enter(folder: Path, rules: Ignoring) -> None:
        inside = folder.relative_to(root).as_posix().removeprefix(".")
        rules = rules.entered(str(folder), (lead + inside).rstrip("/"))
        for path in folder.iterdir():
            name = path.relative_to(root).as_posix()
            if path.name == ".git":
                continue
            if rules.leaves_out(lead + name, path.is_dir()):
                below = path.rglob("*") if path.is_dir() else ()
                found.update({name, *(each.relative_to(root).as_posix() for each in below)})
            elif path.is_dir():
                enter(path, rules)

    enter(root, above)
    return found


def names_in(root: Path) -> list[str]:
    every = (path.relative_to(root).as_posix() for path in root.rglob("*"))
    return [name for name in every if name != ".git" and not name.startswith(".git/")]


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(top=RULES, nested=RULES)
def test_it_leaves_out_what_git_does(top: list[str], nested: list[str]) -> None:
    with TemporaryDirectory() as folder:
        root = Path(folder)
        subprocess.run(["git", "init", "-q", "--template=", folder], check=True)
        for name in FILES:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text("")
        (root / ".gitignore").write_text("\n".join(top))
        (root / "d" / ".gitignore").write_text("\n".join(nested))
        assert by_us(root) == by_git(root, names_in(root))
        assert by_us(root / "d") <= {
            name.removeprefix("d/") for name in by_git(root, names_in(root))
        }, "from within the checkout, too"


def test_the_rules_of_the_checkout_count_in_a_folder_of_it(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("*.log\n/in/deep/only\n/only\n")
    root = tmp_path / "in" / "deep"
    root.mkdir(parents=True)
    rules, lead = rules_above(str(root))
    assert lead == "in/deep/"
    assert rules.leaves_out(lead + "a.log", False)
    assert rules.leaves_out(lead + "only", False)
    assert not rules.leaves_out(lead + "other", False)


def test_what_is_no_file_of_rules_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "huge").mkdir()
    (tmp_path / "huge" / ".gitignore").write_text("a\n" * MOST_BYTES)
    (tmp_path / "folder" / ".gitignore").mkdir(parents=True)
    (tmp_path / "link").mkdir()
    (tmp_path / "rules").write_text("a\n")
    (tmp_path / "link" / ".gitignore").symlink_to(tmp_path / "rules")
    for name in ("huge", "folder", "link", "none"):
        assert read_rules(str(tmp_path / name)) == ""
