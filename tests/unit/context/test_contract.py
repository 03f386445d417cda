"""What a summary must keep: found in the log by rules, looked for in the summary, added back."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from detent.context.compact.boundary import boundary_of
from detent.context.compact.contract import HEADING, body_of, missing, restored
from detent.context.compact.extracting import facts_of
from detent.context.compact.facts import Fact, Kind
from detent.context.compact.pasted import parted
from detent.context.compact.wording import binds, decides, names, sentences
from detent.types.content import Text
from detent.types.effects import Effect, Runs, Writes
from detent.types.events import CallEnded, CallStarted, Entry, Prompted, Replied, Rewound
from detent.types.outcomes import Failed, Outcome, done
from detent.types.usage import Usage
from detent.types.verdicts import Allow


def binding(text: str) -> list[str]:
    return [one for one in sentences(parted(text)[0]) if binds(one)]


def numbered(*entries: Entry) -> list[Entry]:
    return [replace(entry, seq=number) for number, entry in enumerate(entries, 1)]


def said(*texts: str, steered: bool = False) -> Prompted:
    return Prompted(turn=1, content=tuple(map(Text, texts)), steered=steered)


def replied(text: str) -> Replied:
    return Replied(turn=1, step=1, model="m", content=(Text(text),), stop="end_turn", usage=Usage())


def ran(call_id: str, effect: Effect, outcome: Outcome, name: str = "Bash") -> list[Entry]:
    started = CallStarted(
        call_id=call_id, name=name, arguments="{}", effects=(effect,), verdict=Allow("test")
    )
    return [started, CallEnded(call_id=call_id, name=name, outcome=outcome)]


def texts(entries: list[Entry], kind: Kind) -> list[str]:
    return [fact.text for fact in facts_of(entries) if fact.kind == kind]


@pytest.mark.parametrize(
    "sentence",
    [
        "You must keep Python 3.9 working.",
        "Never push to the main branch.",
        "Don't touch the lexer!",
        "Do not add dependencies;",
        "Only edit files below src.",
        "Please make sure that the tests pass offline.",
        "Avoid regular expressions here.",
        "There should be no global state.",
        "Leave the changelog alone.",
        "All of it has to fit into 100 lines.",
        "Nothing may be written outside the folder.",
        "Keep the public names as they are.",
        "Achte darauf, dass nichts gelöscht wird.",
        "Bitte keine neuen Pakete.",
    ],
)
def test_what_binds_is_found_among_other_things(sentence: str) -> None:
    text = f"Hello there. The parser is slow. {sentence} I look forward to it."
    assert binding(text) == [sentence]
    assert binding(f"- {sentence}\n- and something else") == [sentence]


def test_code_that_is_pasted_binds_nobody() -> None:
    text = "Explain this.\n```\nassert never\n# you must not call it\n```\nThank you."
    assert binding(text) == [] and texts(numbered(said("```\nfoo_bar = 1\n```")), "name") == []
    piped = said("<stdin>\nyou must never `foo_bar`", "What is this?")
    assert texts(numbered(piped), "constraint") == [] == texts(numbered(piped), "name")


@pytest.mark.parametrize(
    "name",
    [
        "src/detent/app.py", "README.md", "https://x.test/a?b=1", "PROJ-123", "#4711", "v2.10.3",
        "8443", "deadbeef42", "snake_case", "CamelCase", "camelCase", "HTTPServer", "a.b.c",
        "--dry-run", "us-east-1", "me@x.test", "MAX_SIZE", "~/notes/a", "10.0.0.17", "k8s-prod-eu",
    ],
)  # fmt: skip
def test_names_are_found_wherever_they_stand(name: str) -> None:
    for text in (f"Look at {name}.", f"({name})", f"is it {name}?", f"{name}, then the rest"):
        assert name in list(names(text)), text


def test_what_is_marked_is_a_name_whatever_it_is() -> None:
    assert list(names("call it `the thing` or \"the other\" or 'a third'")) == [
        "the thing",
        "the other",
        "a third",
    ]
    assert list(names("It's the customer's well-known and/or plain text, e.g. this.")) == []


@pytest.mark.parametrize(
    "sentence",
    [
        "We decided to drop XML.",
        "We'll go with SQLite for now.",
        "Let's use tabs in the Makefile.",
        "I chose a queue over a lock.",
        "We use polling instead of events.",
    ],
)
def test_decisions_are_found(sentence: str) -> None:
    text = f"That was hard. {sentence} Good."
    assert [one for one in sentences(text) if decides(one)] == [sentence]


@pytest.mark.parametrize(
    "text",
    [
        "x" * 300_000,
        "`" * 100_000,
        "a-" * 100_000,
        "/a" * 100_000,
        "A. " * 60_000,
        "'" * 99_999,
        f"def {'x' * 19_000}\n" * 20,
        f"{'; ' * 9_000}x\n" * 20,
    ],
    ids=["one word", "ticks", "hyphens", "slashes", "sentences", "quotes", "code", "ends"],
)
def test_no_prompt_takes_long(text: str) -> None:
    begun = time.process_time()
    facts_of(numbered(said(text)))
    assert time.process_time() - begun < 10, "some hundredths of a second, on any machine"


def test_failing_commands_are_those_whose_last_run_failed() -> None:
    bad = Failed("collected 3\nFAILED test_x - KeyError\n1 failed in 2s\nbye", {"exitCode": 1})
    entries = numbered(
        said("go"),
        *ran("1", Runs("pytest -q"), bad),
        *ran("2", Runs("make"), Failed("make: *** no rule", {"exitCode": 2})),
        *ran("3", Runs("make"), done("ok")),
        *ran("4", Runs("ls"), done("a")),
    )
    assert texts(entries, "failing") == ["`pytest -q` (exit 1): FAILED test_x - KeyError"]
    fixed = numbered(*entries, *ran("5", Runs("pytest -q"), done("ok")))
    assert texts(fixed, "failing") == []


def test_files_are_those_that_were_written() -> None:
    entries = numbered(
        said("go"),
        *ran("1", Writes("/p/a.py"), done("ok"), "Edit"),
        *ran("2", Writes("/p/b.py"), Failed("no"), "Edit"),
        *ran("3", Writes("/p/c.py"), done("ok"), "Write"),
    )
    assert texts(entries, "file") == ["/p/a.py", "/p/c.py"]


def test_todos_are_those_of_the_last_list_that_are_open() -> None:
    def todos(*pairs: tuple[str, str]) -> Outcome:
        return done("Noted", {"newTodos": [{"content": c, "status": s} for c, s in pairs]})

    entries = numbered(
        said("go"),
        CallEnded(call_id="1", name="TodoWrite", outcome=todos(("old", "pending"))),
        CallEnded(
            call_id="2",
            name="TodoWrite",
            outcome=todos(("a", "completed"), ("b", "in_progress"), ("c", "pending")),
        ),
    )
    assert texts(entries, "todo") == ["[in_progress] b", "[pending] c"]


def test_what_was_rewound_counts_no_more() -> None:
    entries = numbered(said("Never use `foo_bar`."), replied("ok"))
    assert texts(entries, "name") == ["foo_bar"]
    assert facts_of([*entries, Rewound(seq=9, to=0)]) == ()


def test_both_of_two_that_disagree_stay_the_later_one_last() -> None:
    entries = numbered(said("Only use tabs."), said("Never use tabs."), said("Only use tabs."))
    assert texts(entries, "constraint") == ["Never use tabs.", "Only use tabs."]


def test_a_summary_that_turns_a_rule_around_has_lost_it() -> None:
    rule = Fact("constraint", "Never push to main.")
    lie = "The user no longer says: never push to main. All is allowed."
    assert missing([rule], lie) == [rule]
    assert missing([rule], "Rules:\n- never  push to main.") == []
    assert missing([rule], "", numbered(said("Hi. Never push to main. Bye."))) == []


def test_a_name_inside_another_is_not_kept() -> None:
    name = Fact("name", "a.py")
    assert missing([name], "data.py and a.pyc") == [name]
    assert missing([name], "it is in (a.py).") == []


def test_the_request_comes_back_where_nothing_else_holds_it() -> None:
    entries = numbered(said("rewrite it"), replied("so"), said("and test it", steered=True))
    whole = restored("nothing", entries)
    assert "rewrite it" in whole.text and "and test it" in whole.text
    assert "rewrite it" not in restored("nothing", entries, entries).text


def test_what_there_is_no_room_for_is_counted_and_said() -> None:
    prompts = [said(f"Never use port {number} for the service {number}.") for number in range(2000)]
    entries = numbered(*prompts, said("go"))
    whole = restored("short", entries)
    assert len(whole.text) < 16_000 + 4_000
    assert whole.left_out and f"({whole.left_out} older facts had no room here.)" in whole.text
    assert "port 1999" in whole.text and "port 3 " not in whole.text, "the newest stay"


def test_every_kind_has_its_share() -> None:
    prompts = [said(f"Never use port {number} for service {number}.") for number in range(2000)]
    writes = [e for n in range(20) for e in ran(str(n), Writes(f"/p/f{n}.py"), done("ok"), "Edit")]
    failing = ran("x", Runs("make all"), Failed("broken", {"exitCode": 2}))
    text = restored("short", numbered(*prompts, *writes, *failing, said("go"))).text
    assert "/p/f0.py" in text and "`make all` (exit 2): broken" in text


def test_the_body_is_what_was_summed_up() -> None:
    entries = numbered(said("Never use `foo_bar`."), replied("ok"), said("go"))
    whole = restored("the body\n- of it", entries)
    assert HEADING in whole.text
    assert body_of(whole.text) == "the body\n- of it"


WORDS = st.sampled_from(
    ["never", "use", "`a b`", "src/x.py", "must", "keep", "it.", "We", "decided", "PROJ-9", "\n",
     "- ", "no.", "8080", "don't", '"quoted"', "why?", "ÄÖ", "…", "```", "#12", "foo_bar()", "\t"]
)  # fmt: skip
PROMPTS = st.lists(st.lists(WORDS, max_size=30).map(" ".join), min_size=1, max_size=6)


@given(PROMPTS, st.text(max_size=60))
def test_what_was_added_back_is_missing_no_more(prompts: list[str], summary: str) -> None:
    entries = numbered(*(said(text) for text in prompts))
    whole = restored(summary, entries)
    assert missing(facts_of(entries), whole.text) == []
    again = restored(whole.text, entries)
    assert again.added == 0, "to do it twice changes nothing"


@given(PROMPTS)
def test_the_same_log_gives_the_same_facts(prompts: list[str]) -> None:
    entries = numbered(*(said(text) for text in prompts))
    assert facts_of(entries) == facts_of(list(entries))


def test_the_answers_of_the_person_are_the_persons_words() -> None:
    answer: Any = CallEnded(call_id="1", name="AskUserQuestion", outcome=done("Never use XML."))
    assert texts(numbered(said("go"), answer), "constraint") == ["Never use XML."]


def test_a_boundary_keeps_what_the_contract_calls_the_request() -> None:
    entries = numbered(said("old"), replied("a"), said("new"), replied("b"), replied("c"))
    boundary = boundary_of(entries, 2)
    assert boundary is not None and boundary.keeps == (3,)
    assert texts(entries, "request") == ["new"]


LOG = [
    f"2026-01-02 12:00:{n % 60:02} INFO worker-{n} closed by peer, must not retry (in {n} ms)"
    for n in range(300)
]
TRACE = """Traceback (most recent call last):
  File "/app/run.py", line 12, in main
    total = add(invoice, None)
  File "/app/sums.py", line 88, in add
    return a + b
TypeError: unsupported operand
"""
JAVA = [
    "java.lang.Error: out",
    *(f"\tat a.b.C.m{n}(C.java:{n})" for n in range(40)),
    "\t... 9 more",
]
NPM = [f"npm ERR! could not resolve foo-{n}@{n}.0.0, never use it" for n in range(40)]
CSV = [f"{n},user_{n},u{n}@x.test,{n * 31}" for n in range(300)]
CODE = [line for n in range(30) for line in (f"def f_{n}(a):", f"    return must_not_{n}(a)", "")]
GCC = [f"src/a.c:{n}:3: warning: unused variable v_{n} is never read" for n in range(30)]


@pytest.mark.parametrize(
    "lines",
    [LOG, TRACE.split("\n") * 4, JAVA, NPM, CSV, CODE, GCC],
    ids=["log", "traces", "java", "npm", "csv", "code", "compiler"],
)
def test_what_is_pasted_does_not_drown_what_was_said(lines: list[str]) -> None:
    typed = "Why does this happen?", "Please mend it in src/a.py, but leave the tests alone."
    text = "\n".join((typed[0], *lines, typed[1]))
    facts = facts_of(numbered(said(text), said("go")))
    assert [f.text for f in facts if f.kind == "constraint"] == [typed[1]]
    assert len([f for f in facts if f.kind == "name"]) < 10
    assert len([f for f in facts if f.kind == "said"]) <= 2, "and the line that says what is wrong"
    assert len(restored("short", numbered(said(text), said("go"))).text) < 1_500


def test_a_short_list_was_meant_name_by_name() -> None:
    text = "Look at these:\nsrc/a.py\nsrc/b.py\nsrc/c.py\nsrc/d.py\nThat is all of them."
    assert texts(numbered(said(text)), "name") == ["src/a.py", "src/b.py", "src/c.py", "src/d.py"]


def test_of_a_long_trace_there_stays_what_went_wrong() -> None:
    facts = facts_of(numbered(said("It broke:\n" + TRACE * 4)))
    assert "TypeError: unsupported operand" in [f.text for f in facts if f.kind == "said"]


def test_what_else_was_said_takes_only_the_room_that_is_left() -> None:
    rules = [said(f"Never use port {number} for service {number}.") for number in range(400)]
    talk = [said(f"The weather of day {number} is fine in every town.") for number in range(400)]
    text = restored("short", numbered(*talk, *rules, said("go"))).text
    assert "day 399" in text and "day 200 " not in text, "the newest of it"
    assert "day 0 " in text, "and what it began with"
    assert text.count("Never use port") > 5 * text.count("The weather")


def test_a_sentence_that_an_editor_has_broken_is_one() -> None:
    text = (
        "Whatever happens to the old importer in the course of this, the\nnew one must stay.\nBye."
    )
    assert binding(text) == [" ".join(text.split("\n")[:2])]
    assert binding("You must use tabs\nno spaces") == ["You must use tabs", "no spaces"]


def test_a_question_is_not_a_rule() -> None:
    entries = numbered(said("And how do I stop it? Can you keep it short? Never stop it."))
    assert texts(entries, "constraint") == ["Can you keep it short?", "Never stop it."]


def test_what_the_summary_tells_is_not_told_twice() -> None:
    facts = (
        Fact("todo", "[pending] Run all tests"),
        Fact("todo", "[pending] Write"),
        Fact("said", "Which branch did I say?"),
    )
    summary = "## Still to do\n- Run all tests\n- Earlier: ok / Which branch did I say?"
    assert missing(facts, summary) == [facts[1]]
