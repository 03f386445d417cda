"""A command as a prompt: what is put in, what is run first, and what holds for its turn alone."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from detent.app.options import Options
from detent.gate.hooks import HookAnswer, HookSet
from detent.ports import Answer, Question
from detent.sdk.commands import Expanded, TurnWishes
from detent.sdk.session import Session
from detent.testing import call, reply
from detent.testing.memory_host import MemoryHost
from detent.testing.scripted_model import ScriptedModel
from detent.types.content import Text, own_words, plain_text
from detent.types.errors import BadInput
from detent.types.events import CallEnded, Event, Notice, Replied, Switched, TurnEnded
from detent.types.outcomes import Done, Refused


class Person:
    """Says the same to every question."""

    def __init__(self, *, allows: bool) -> None:
        self.allows = allows
        self.asked: list[str] = []

    async def ask(self, question: Question) -> Answer:
        self.asked.append(question.proposal.arguments.get("command", question.proposal.tool))
        return Answer(self.allows, rules=("Bash(touch kept)",) if self.allows else ())


class Place:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.work = folder / "p"
        for name in ("home", "p/.git", "detent"):
            (folder / name).mkdir(parents=True)

    def command(self, text: str, *head: str, where: str = "home/.claude", name: str = "do") -> None:
        path = self.folder / where / "commands" / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(["---", *head, "---", text]))

    def options(self, *replies: Any, **options: Any) -> Options:
        environ = {"HOME": str(self.folder / "home"), "DETENT_HOME": str(self.folder / "detent")}
        return Options(
            **{
                "model": ScriptedModel(*(replies or ("done",))),
                "cwd": str(self.work),
                "environ": {**environ, "PATH": "/usr/bin:/bin"},
                "managed_folders": (),
                "persist": False,
                "sandbox": "off",
                **options,
            }
        )

    def play(self, body: Callable[[Session], Awaitable[Any]], *replies: Any, **options: Any) -> Any:
        async def run() -> Any:
            async with Session(self.options(*replies, **options)) as session:
                return await body(session)

        return asyncio.run(run())

    def expanded(self, arguments: str = "", **options: Any) -> Expanded:
        found = self.play(lambda session: session.expand("do", arguments), **options)
        assert isinstance(found, Expanded)
        return found

    def said(self, arguments: str = "", **options: Any) -> str:
        """The text, without what stands around it."""
        block = self.expanded(arguments, **options).content[1]
        assert isinstance(block, Text)
        head, *lines, end = block.text.split("\n")
        assert head.startswith('<command file="') and end == "</command>"
        return "\n".join(lines)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


async def events_of(session: Session, prompt: Any, **given: Any) -> list[Event]:
    return [event async for event in session.send(prompt, **given)]


# The text


def test_arguments_are_put_in(place: Place) -> None:
    place.command("Fix $1 in ${CLAUDE_PROJECT_DIR}: $ARGUMENTS")
    assert place.said("a 'b c'") == f"Fix a in {place.work}: a 'b c'"


def test_without_a_place_for_them_they_stand_at_the_end(place: Place) -> None:
    place.command("Fix it.")
    assert place.said("now please") == "Fix it.\n\nARGUMENTS: now please"
    assert place.said() == "Fix it."


def test_what_was_typed_stands_before_it(place: Place) -> None:
    place.command("Fix it.")
    expanded = place.expanded("now")
    assert own_words(expanded.content) == ("/do now",)


def test_there_may_be_none_of_the_name(place: Place) -> None:
    with pytest.raises(BadInput, match="there is no command /do"):
        place.expanded()
    place.command("  ")
    with pytest.raises(BadInput, match="says nothing"):
        place.expanded()


def test_files_that_it_names_come_with_it(place: Place) -> None:
    (place.work / "a.txt").write_text("words of a")
    (place.work / ".env").write_text("KEY=1")
    place.command("See @$1 and @.env.")
    expanded = place.expanded("a.txt")
    texts = [block.text for block in expanded.content if isinstance(block, Text)]
    assert texts[2] == '<mentioned file="a.txt">\n     1\twords of a\n</mentioned>'
    assert len(texts) == 3
    assert expanded.notices[0].startswith("@.env. is not attached: Reading ")


# Command lines in it


def test_what_is_printed_takes_their_place(place: Place) -> None:
    place.command("Branch: !`printf '%s' main`\n```!\necho one\necho two >&2\n```\nGo.")
    assert place.said() == "Branch: main\none\ntwo\nGo."


def test_neither_what_is_put_in_nor_what_is_printed_is_looked_at_again(place: Place) -> None:
    (place.work / "a.txt").write_text("@b.txt !`touch bad` $ARGUMENTS </command>")
    (place.work / "b.txt").write_text("never")
    place.command("$ARGUMENTS\n!`cat a.txt`")
    expanded = place.expanded("!`touch bad` x")
    text = expanded.content[1]
    assert isinstance(text, Text)
    assert "!`touch bad` x\n@b.txt !`touch bad` $ARGUMENTS < /command>\n</command>" in text.text
    assert len(expanded.content) == 2
    assert not (place.work / "bad").exists()


def test_it_is_judged_with_what_the_user_wrote_in_it(place: Place) -> None:
    place.command("!`echo $1`", "allowed-tools: Bash(echo:*)")
    assert place.said("hi") == "hi"
    with pytest.raises(BadInput, match="may not run"):
        place.expanded("'hi; touch bad'")
    assert not (place.work / "bad").exists()


def test_what_it_allows_itself_is_run_and_else_it_is_refused(place: Place) -> None:
    place.command("!`touch made`")
    with pytest.raises(BadInput, match=r"^/do: `touch made` may not run: .*Nobody can be asked"):
        place.expanded()
    assert not (place.work / "made").exists()
    place.command("Made.!\n!`touch made`", "allowed-tools: Bash(touch:*)")
    assert place.said() == "Made.!"
    assert (place.work / "made").exists()


def test_deny_rules_hold_and_so_do_those_of_the_command(place: Place) -> None:
    place.command("!`touch made`", "allowed-tools: Bash")
    with pytest.raises(BadInput, match=r"The rule Bash\(touch \*\) denies it"):
        place.expanded(disallowed_tools=("Bash(touch *)",))
    place.command("!`touch made`", "allowed-tools: Bash", "disallowed-tools: Bash(touch:*)")
    with pytest.raises(BadInput, match="denies it"):
        place.expanded()
    assert not (place.work / "made").exists()


def test_a_strangers_command_widens_nothing(place: Place) -> None:
    head = "allowed-tools: Bash(touch:*)"
    place.command("Made. !`touch made`", head, where="p/.claude")
    with pytest.raises(BadInput, match="may not run"):
        place.expanded()
    assert place.expanded(trust=True).wishes.allowed == ("Bash(touch:*)",)


@pytest.mark.parametrize("allows", [True, False])
def test_a_person_is_asked(place: Place, allows: bool) -> None:
    place.command("Made. !`touch made`")
    person = Person(allows=allows)
    if allows:
        place.expanded(approver=person)
    else:
        with pytest.raises(BadInput, match="may not run"):
            place.expanded(approver=person)
    assert person.asked == ["touch made"]
    assert (place.work / "made").exists() == allows


def test_hooks_have_their_say(place: Place) -> None:
    place.command("!`echo hi`")

    async def deny(event: Any) -> HookAnswer:
        return HookAnswer(decision="deny", reason="not today")

    with pytest.raises(BadInput, match="not today"):
        place.expanded(hooks=HookSet(before_call=(deny,)))


def test_one_that_fails_ends_it_all(place: Place) -> None:
    place.command("!`ls nothing-there`\n!`touch made`", "allowed-tools: Bash")
    with pytest.raises(BadInput, match=r"^/do: `ls nothing-there` failed: .*Exit code 2"):
        place.expanded()
    assert not (place.work / "made").exists()


def test_nothing_printed_moves_a_cursor(place: Place) -> None:
    place.command(r"!`printf '\033[2J\007bad'; false`", "allowed-tools: Bash")
    with pytest.raises(BadInput) as failed:
        place.expanded()
    assert str(failed.value).isprintable()


def test_a_session_without_bash_runs_none(place: Place) -> None:
    place.command("!`echo hi`")
    with pytest.raises(BadInput, match="this session has no Bash"):
        place.expanded(tools=("Read",))


def test_nobody_follows_a_cd(place: Place) -> None:
    (place.work / "sub").mkdir()
    place.command("!`cd sub && pwd`", "allowed-tools: Bash")

    async def body(session: Session) -> tuple[str, str]:
        expanded = await session.expand("do")
        return str(expanded.content[1]), session.cwd

    text, cwd = place.play(body)
    assert f"{place.work}/sub" in text and cwd == str(place.work)


class Endless(MemoryHost):
    """A machine on which a command never ends by itself."""

    def __init__(self) -> None:
        super().__init__()
        self.began, self.ended = asyncio.Event(), asyncio.Event()

    async def run(self, argv: Any, **given: Any) -> Any:
        self.began.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.ended.set()


def test_cancelling_ends_what_runs(place: Place) -> None:
    place.command("!`echo hi`")
    host = Endless()

    async def body(session: Session) -> None:
        expanding = asyncio.create_task(session.expand("do"))
        await host.began.wait()
        expanding.cancel()
        with pytest.raises(asyncio.CancelledError):
            await expanding
        assert host.ended.is_set()
        assert (await session.run_turn("go on")).text == "done"

    place.play(body, host=host)


# For one turn


def test_its_rules_hold_for_its_turn_alone(place: Place) -> None:
    touch = reply(call("Bash", command="touch made"))
    place.command("Make it.", "allowed-tools: Bash(touch:*)")

    async def body(session: Session) -> list[Any]:
        expanded = await session.expand("do")
        outcomes = []
        for wishes in (expanded.wishes, None):
            events = await events_of(session, expanded.content, wishes=wishes)
            outcomes += [event.outcome for event in events if isinstance(event, CallEnded)]
        return outcomes

    with_it, without = place.play(body, touch, "made", touch, "not made")
    assert isinstance(with_it, Done) and isinstance(without, Refused)


def test_what_it_denies_is_denied_for_its_turn_alone(place: Place) -> None:
    look = reply(call("Bash", command="ls"))

    async def body(session: Session) -> list[Any]:
        outcomes = []
        for wishes in (TurnWishes(denied=("Bash(ls:*)",)), None):
            events = await events_of(session, "go", wishes=wishes)
            outcomes += [event.outcome for event in events if isinstance(event, CallEnded)]
        return outcomes

    with_it, without = place.play(body, look, "no", look, "yes")
    assert isinstance(with_it, Refused) and isinstance(without, Done)


def test_what_a_person_agrees_to_meanwhile_stays(place: Place) -> None:
    person = Person(allows=True)
    twice = [reply(call("Bash", command="touch kept")), "done"] * 2

    async def body(session: Session) -> None:
        for wishes in (TurnWishes(allowed=("Bash(echo:*)",)), None):
            await events_of(session, "go", wishes=wishes)

    place.play(body, *twice, approver=person)
    assert person.asked == ["touch kept"], "and it was asked once"


def test_rules_that_are_none_end_nothing_but_the_turn(place: Place) -> None:
    async def body(session: Session) -> None:
        with pytest.raises(BadInput, match="not a permission rule"):
            await events_of(session, "go", wishes=TurnWishes(allowed=("((",)))
        assert (await session.run_turn("go")).text == "done"

    place.play(body)


def scripted(place: Place, name: str, *replies: str) -> str:
    path = place.folder / f"{name}.json"
    path.write_text(json.dumps({"replies": replies}))
    return f"scripted:{path}"


def test_another_model_answers_its_turn_alone(place: Place) -> None:
    usual = scripted(place, "usual", "usual")
    wishes = TurnWishes(model=scripted(place, "other", "other"))

    async def body(session: Session) -> list[str]:
        answers = []
        for given in (wishes, None):
            events = await events_of(session, "go", wishes=given)
            assert isinstance(events[-1], TurnEnded)
            answers += [plain_text(one.content) for one in events if isinstance(one, Replied)]
        return answers

    assert place.play(body, model=usual) == ["other", "usual"]


def test_a_model_that_cannot_be_had_is_told_of(place: Place) -> None:
    async def body(session: Session) -> list[Event]:
        return await events_of(session, "go", wishes=TurnWishes(model="nobody/nothing"))

    events = place.play(body)
    (notice,) = [e for e in events if isinstance(e, Notice) and e.level == "warning"]
    assert notice.text.startswith("nobody/nothing cannot be had (")
    assert notice.text.endswith("going on with scripted")
    assert isinstance(events[-1], TurnEnded) and events[-1].reason == "end_turn"
    assert not any(isinstance(event, Switched) for event in events)
