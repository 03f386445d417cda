"""The state of a session as one JSON object: F139 to F142, and F145."""

from __future__ import annotations

import json
from typing import Any

from detent.app.export.exporting import rendered
from detent.app.export.mutations import MOST_KEPT
from detent.app.export.snapshot import plugin_states
from detent.types.content import Call, Text
from detent.types.events import (
    CallEnded,
    Compacted,
    Entry,
    Prompted,
    Restored,
    Rewound,
    Trim,
    Trimmed,
)
from detent.types.outcomes import Done, done
from storybench import BLOBS, SESSION, answer, everything, numbered


def taken(*entries: Entry) -> dict[str, Any]:
    found = entries or everything()
    data = rendered(found, "snapshot", lambda model, usage: 0.25, BLOBS.get)
    return dict(json.loads(data))


def by_id(snapshot: dict[str, Any]) -> dict[int, dict[str, Any]]:
    return {message["id"]: message for message in snapshot["messages"]}


def test_it_holds_prompt_contexts_messages_and_the_serial() -> None:
    found = taken()
    assert found["session"] == SESSION and found["name"] == "the edit"
    assert found["system_prompt_parts"] == ["Be good.", "You are in /work."]
    assert found["user_context"] == {"/work/CLAUDE.md": "Use tabs."}
    assert found["system_context"] == {"date": "Today is Monday."}
    roles = [message["role"] for message in found["messages"]]
    assert set(roles) == {"user", "assistant", "tool", "system"}
    assert found["mutation_serial"] == 28


def test_messages_are_whole_and_tell_what_became_of_them() -> None:
    messages = by_id(taken())
    result = messages[9]
    assert result["content"] == [{"type": "text", "text": "Edited."}]
    kinds = [(one["serial"], one["kind"]) for one in result["metadata"]["mutations"]]
    assert kinds == [(9, "added"), (15, "trimmed"), (20, "compacted"), (21, "restored")]
    assert result["in_context"] is False
    assert messages[6]["metadata"]["totals"] == {"added": 1, "withheld": 1, "compacted": 1}
    assert messages[20]["facts"]["kind"] == "compact_boundary"
    assert messages[20].get("in_context", True) and messages[27].get("in_context", True)


def test_what_was_rewound_has_vanished() -> None:
    assert not {23, 24} & by_id(taken()).keys()


def test_what_the_model_reads_now_is_told_where_it_differs() -> None:
    entries = numbered(
        Prompted(turn=1, content=(Text("go"),)),
        answer(Call("c", "T", "{}")),
        CallEnded(call_id="c", name="T", outcome=done("long")),
        Trimmed(stage="micro", trims=(Trim(3, "short"),)),
    )
    message = by_id(taken(*entries))[3]
    assert message["content"] == [{"type": "text", "text": "long"}]
    assert message["reads_as"] == [{"type": "text", "text": "short"}]


def test_eight_mutations_are_kept_and_all_are_counted() -> None:
    trims = [Trimmed(stage="micro", trims=(Trim(3, f"{n}"),)) for n in range(20)]
    entries = numbered(
        Prompted(turn=1, content=(Text("go"),)),
        answer(Call("c", "T", "{}")),
        CallEnded(call_id="c", name="T", outcome=done("long")),
        *trims,
        Restored(entries=(4,)),
    )
    metadata = by_id(taken(*entries))[3]["metadata"]
    assert len(metadata["mutations"]) == MOST_KEPT == 8
    assert metadata["totals"] == {"added": 1, "trimmed": 20, "restored": 1}
    assert metadata["mutations"][-1] == {"serial": 24, "kind": "restored", "at": 1_790_000_024.0}
    assert metadata["last_mutation_serial"] == 24


def test_a_compaction_within_another_is_a_mutation_of_the_first() -> None:
    entries = numbered(
        Prompted(turn=1, content=(Text("go"),)),
        Compacted(summary="one", keeps_from=2),
        Compacted(summary="two", keeps_from=1, keeps=(1,)),
    )
    messages = by_id(taken(*entries))
    assert messages[2]["metadata"]["totals"] == {"added": 1, "compacted": 1}
    assert messages[1]["metadata"]["totals"] == {"added": 1, "compacted": 1}


def test_an_answer_that_is_left_out_takes_its_results_along() -> None:
    entries = numbered(
        Prompted(turn=1, content=(Text("go"),)),
        answer(Call("c", "T", "{}")),
        CallEnded(call_id="c", name="T", outcome=done("long")),
        Trimmed(stage="snip", trims=(Trim(2, "gone"),)),
    )
    assert by_id(taken(*entries))[3]["metadata"]["totals"] == {"added": 1, "trimmed": 1}


def test_the_serial_of_a_resumed_session_is_the_largest_of_all_messages() -> None:
    """And not that of the last: what happened to an early one counts."""
    entries = numbered(
        Prompted(turn=1, content=(Text("go"),)),
        answer(Call("c", "T", "{}")),
        CallEnded(call_id="c", name="T", outcome=done("long")),
        answer(Text("done")),
        Trimmed(stage="micro", trims=(Trim(3, "short"),)),
    )
    found = taken(*entries)
    serials = [message["metadata"]["last_mutation_serial"] for message in found["messages"]]
    assert found["mutation_serial"] == max(serials) == 5 and serials[-1] == 4
    gone_on = (*entries, *numbered(*entries, Restored(entries=(5,)))[5:])
    assert taken(*gone_on)["mutation_serial"] == 6


def test_going_back_and_taking_that_back_is_told() -> None:
    entries = numbered(
        Prompted(turn=1, content=(Text("go"),)),
        answer(Text("done")),
        Rewound(to=1),
    )
    assert by_id(taken(*entries)).keys() == {1}
    back = numbered(*entries, Restored(entries=(3,)))
    kinds = by_id(taken(*back))[2]["metadata"]["totals"]
    assert kinds == {"added": 1, "rewound": 1, "restored": 1}


def test_it_holds_what_was_done_to_files() -> None:
    history = taken()["file_history"]
    assert [(one["serial"], one["tool"], one["action"], one["path"]) for one in history] == [
        (9, "Edit", "changed", "/work/a.txt"),
        (26, "undo", "changed", "/work/a.txt"),
    ]
    assert history[0]["before"] == history[1]["digest"] != history[0]["digest"]


def test_files_that_were_only_read_are_in_it() -> None:
    ended = CallEnded(call_id="c", name="Read", outcome=done("x"), seen={"/work/b.txt": "abc"})
    (one,) = taken(*numbered(answer(Call("c", "Read", "{}")), ended))["file_history"]
    assert (one["action"], one["path"], one["digest"]) == ("read", "/work/b.txt", "abc")


def test_it_holds_the_budget_as_it_stands() -> None:
    budget = taken()["budget"]
    assert budget["limits"] == {"tokens": 1000}
    spent = budget["spent"]["usage"]
    assert budget["left"] == {"tokens": 1000 - spent["input"] - spent["output"]}
    assert budget["spent"]["dollars"] > 0 and "main" in budget["by"]


def test_it_holds_what_plugins_kept_last() -> None:
    def kept(name: str, serial: int, state: dict[str, Any]) -> CallEnded:
        data = {"plugin": name, "serial": serial, "state": state}
        return CallEnded(call_id="c", name="T", outcome=Done((Text("x"),), data))

    entries = numbered(kept("p", 1, {"n": 1}), kept("q", 1, {}), kept("p", 2, {"n": 2}))
    assert plugin_states(entries) == {"p": {"n": 2}, "q": {}}
    assert taken(*entries)["plugin_state"] == {"p": {"n": 2}, "q": {}}
