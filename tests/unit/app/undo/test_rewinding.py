"""Back to a prompt: the chat, the files, or both; and forward again."""

from __future__ import annotations

from pathlib import Path

import pytest

from detent.app.memory.touched import Touched
from detent.app.undo.rewinding import (
    look_back,
    point_of,
    points,
    redo,
    restorable,
    rewind,
)
from detent.context.project import project
from detent.types.effects import Reads
from detent.types.errors import BadInput
from detent.types.events import Prompted, Reminded, Replied, Restored, Rewound
from detent.types.files import Undone
from undobench import Bench


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """Two prompts, each with a step that writes."""
    bench = Bench(tmp_path)
    bench.write("a", "one")
    bench.prompt("first")
    bench.step("printf two > a")
    bench.prompt("second")
    bench.step("printf three > a; printf new > b")
    return bench


def test_points_are_prompts_with_what_changed_since(bench: Bench) -> None:
    found = [(p.number, p.text, p.files) for p in points(bench.log.entries)]
    assert found == [(1, "first", 2), (2, "second", 2)]


def test_a_point_that_was_taken_back_is_none_and_others_keep_their_numbers(bench: Bench) -> None:
    rewind(bench.ground, 2, "chat")
    assert [p.number for p in points(bench.log.entries)] == [1]
    bench.prompt("third")
    assert [p.number for p in points(bench.log.entries)] == [1, 3]
    with pytest.raises(BadInput, match="no prompt 2 to go back to; there is: 1, 3"):
        point_of(bench.log.entries, 2)


def test_both_go_back_and_come_back(bench: Bench) -> None:
    talk, tree = project(bench.log.entries), bench.tree()
    seen = look_back(bench.ground, 2, "both")
    assert seen.messages == 2 and seen.files is not None and len(seen.files.files) == 2
    assert bench.tree() == tree and project(bench.log.entries) == talk, "a look touches nothing"
    done = rewind(bench.ground, 2, "both")
    assert done.messages == seen.messages
    assert bench.read("a") == "two" and not (bench.root / "b").exists()
    assert len(project(bench.log.entries)) == len(talk) - 2
    assert not isinstance(bench.log.entries[-1], Reminded), "it knows of nothing that is not so"
    back = redo(bench.ground)
    assert back.messages == 2 and back.files is not None
    assert bench.tree() == tree and project(bench.log.entries) == talk


def test_the_chat_alone_goes_back_and_hears_of_files_that_do_not(bench: Bench) -> None:
    rewind(bench.ground, 2, "chat")
    assert bench.read("a") == "three"
    told = bench.log.entries[-1]
    assert isinstance(told, Reminded) and "stay as you changed them later: a, b" in told.text
    assert redo(bench.ground).files is None
    assert len(project(bench.log.entries)) == 5


def test_files_alone_go_back_and_the_chat_hears_of_it(bench: Bench) -> None:
    talk = len(project(bench.log.entries))
    rewind(bench.ground, 1, "files")
    assert bench.read("a") == "one"
    assert len(project(bench.log.entries)) == talk
    assert isinstance(bench.log.entries[-1], Reminded)


def test_files_go_back_to_what_an_undo_had_taken_away_since(bench: Bench) -> None:
    bench.prompt("third")
    bench.undo(1)
    assert bench.read("a") == "one"
    rewind(bench.ground, 3, "files")
    assert bench.read("a") == "three" and bench.read("b") == "new"
    assert bench.look().steps == (2,), "and these steps stand again"


def test_files_that_the_user_changed_stay_and_the_chat_hears_of_them(bench: Bench) -> None:
    bench.write("b", "mine")
    done = rewind(bench.ground, 2, "both")
    assert done.files is not None and [Path(f.path).name for f in done.files.left] == ["b"]
    assert bench.read("b") == "mine" and bench.read("a") == "two"


def test_a_rewind_is_taken_back_only_until_the_next_prompt(bench: Bench) -> None:
    rewind(bench.ground, 2, "chat")
    bench.prompt("third")
    assert restorable(bench.log.entries) is None


def test_a_rewind_of_a_hook_is_not_taken_back(bench: Bench) -> None:
    bench.log.append(Rewound(to=2))
    assert restorable(bench.log.entries) is None


def test_an_undo_after_a_rewind_is_redone_before_it(bench: Bench) -> None:
    rewind(bench.ground, 2, "chat")
    bench.undo()
    assert redo(bench.ground).messages == 0 and bench.read("a") == "three"
    assert redo(bench.ground).messages > 0


def test_spent_tokens_and_prompts_stay_counted(bench: Bench) -> None:
    before = [e for e in bench.log.entries if isinstance(e, Replied | Prompted)]
    rewind(bench.ground, 1, "both")
    assert [e for e in bench.log.entries if isinstance(e, Replied | Prompted)] == before
    assert [e for e in bench.log.entries if isinstance(e, Undone)][-1].of


def test_what_was_touched_is_touched_again_after_a_rewind_is_taken_back(bench: Bench) -> None:
    touched = Touched()
    bench.started("r", Reads("/p/deep/file"))
    assert touched.look(bench.log.entries) == ["/p/deep/file"]
    bench.log.append(Rewound(to=2, asked=True))
    touched.look(bench.log.entries)
    assert touched.paths == {}
    bench.log.append(Restored(entries=(bench.log.entries[-1].seq,)))
    touched.look(bench.log.entries)
    assert list(touched.paths) == ["/p/deep/file"]
