"""What is typed into the text box of a real terminal, and what of it the model gets."""

from __future__ import annotations

from collections.abc import Callable

from .conftest import Runner
from .terminal import READY, Term

Sit = Callable[..., Term]


def asked(runner: Runner, number: int = -1) -> str:
    """The last message of the person, as the model gets it."""
    return runner.requests[number].user_texts[-1]


def test_a_command_of_the_person_is_told_and_one_with_two_marks_is_not(
    runner: Runner, sit: Sit
) -> None:
    runner.serve("I see.")
    term = sit("--sandbox", "off")
    term.see(READY)
    term.say("!echo se''cret; exit 4")
    term.rest("❯ !echo se''cret", "secret\n", "exit code 4")
    term.say("!!echo ano''ther")
    term.rest("another\n")
    term.say("what did I run?")
    term.rest("I see.")
    told = asked(runner)
    assert "The user ran: echo se''cret; exit 4\nExit code: 4\nsecret" in told
    assert told.endswith("what did I run?") and "ther" not in told.replace("what", "")


def test_a_line_for_memory(runner: Runner, sit: Sit) -> None:
    runner.serve("I know.")
    term = sit()
    term.see(READY)
    term.say("# tests are run with make")
    term.see("Remember where: tests are run with make", "This project")
    term.type("1")
    term.rest("Remembered in", READY)
    (file,) = (path for path in runner.work.iterdir() if path.suffix == ".md")
    assert "tests are run with make" in file.read_text()


def test_commands_are_completed_custom_ones_included(runner: Runner, sit: Sit) -> None:
    commands = runner.work / ".claude/commands"
    commands.mkdir(parents=True)
    (commands / "greet.md").write_text(
        "---\ndescription: Say hello\nargument-hint: WHO\n---\nGreet $1 in $ARGUMENTS."
    )
    runner.serve("Hello, world.")
    term = sit("--trust")
    term.see(READY)
    term.type("/gre")
    term.see("❯ /greet", "Say hello")
    term.press("tab")
    term.type("the-world")
    term.see("❯ /greet the-world")
    term.press("enter")
    term.rest("Hello, world.")
    assert "Greet the-world in the-world." in asked(runner)
    term.type("/stat")
    term.see("/status ", "/statusline")
    term.press("down")
    term.see("❯ /statusline")
    term.press("escape")
    term.no_longer("❯ /statusline")
    term.see("❯ /stat")
    term.type("us")
    term.see("❯ /status\n❯ /status ", "/statusline")
    term.press("ctrl+c")
    term.see("❯ Describe a task", READY)
    assert "/statusline" not in term.text


def test_a_file_is_found_named_and_read(runner: Runner, sit: Sit) -> None:
    (runner.work / "src").mkdir()
    (runner.work / "src/shop.py").write_text("def add(a, b):\n    return a - b\n")
    (runner.work / "notes.txt").write_text("nothing\n")
    runner.serve("I see it.")
    term = sit()
    term.see(READY)
    term.type("look at @shp")
    term.see("❯ @src/shop.py")
    term.press("enter")
    term.see("❯ look at @src/shop.py")
    term.type("now")
    term.press("enter")
    term.rest("❯ look at @src/shop.py now", "I see it.")
    assert "return a - b" in runner.requests[0].body.decode()
    assert "look at @src/shop.py now" in asked(runner)


def test_as_in_vi(runner: Runner, sit: Sit) -> None:
    runner.serve("Quick.")
    term = sit("--vim")
    term.see(READY, "INSERT")
    term.type("say something slow")
    term.see("❯ say something slow")
    term.press("escape")
    term.see("NORMAL")
    term.type("bcw")
    term.see("INSERT", "❯ say something\n")
    term.type("quick")
    term.press("enter")
    term.rest("Quick.")
    assert asked(runner).endswith("say something quick")


def test_ten_thousand_lines_are_folded_and_sent_whole(runner: Runner, sit: Sit) -> None:
    runner.serve("That is long.")
    term = sit()
    term.see(READY)
    text = "\n".join(f"line {n}" for n in range(1, 10_001))
    term.type("count: ")
    term.paste(text)
    term.see("❯ count: [Pasted text #1: 10,000 lines]")
    before = len(term.raw)
    term.type("!")
    term.see("lines]!")
    assert len(term.raw) - before < 2_000, "a key costs a key, not the paste"
    term.press("enter")
    term.rest("That is long.")
    assert asked(runner).endswith(f"count: {text}!")


def test_several_lines(runner: Runner, sit: Sit) -> None:
    """With every key that means a new line and not the end."""
    runner.serve("Five.")
    term = sit()
    term.see(READY)
    term.type("one")
    term.press("ctrl+j")
    term.type("two")
    term.press("shift+enter")
    term.type("three\\")
    term.press("enter")
    term.type("four\x1b\r")
    term.paste("five\r\nsix")
    term.see("❯ one\n  two\n  three\n  four\n  five\n  six")
    term.press("enter")
    term.rest("Five.")
    assert asked(runner).endswith("one\ntwo\nthree\nfour\nfive\nsix")


def test_wide_characters_stand_where_they_should(runner: Runner, sit: Sit) -> None:
    """Typed, sent, answered: two columns each, and the cursor behind them."""
    runner.serve("答え: 🎉 はい")
    term = sit()
    term.see(READY)
    term.type("漢字 🙂 ab")
    term.see("漢字 🙂 ab")
    row, column = term.cursor
    assert term.lines[row].startswith("❯ 漢字 🙂 ab")
    assert column == len("❯ ") + 4 + 1 + 2 + 1 + 2
    term.press("left", "left", "left", "left")
    term.see(lambda: term.cursor == (row, len("❯ ") + 4 + 1))
    term.press("erase", "erase")
    term.see("❯ 漢🙂 ab", lambda: term.cursor == (row, len("❯ ") + 2))
    term.press("enter")
    term.rest("答え: 🎉 はい", "❯ 漢🙂 ab")
    assert asked(runner).endswith("漢🙂 ab")


def test_keys_pressed_before_it_is_there_are_kept(runner: Runner, sit: Sit) -> None:
    runner.serve("Early.")
    term = sit()
    term.say("typed at once")
    term.rest("❯ typed at once", "Early.")
    assert asked(runner).endswith("typed at once")
    assert term.past.count("typed at once") == 1
