"""Output styles from the outside: what a host is told of them, and what the model reads."""

from __future__ import annotations

from .conftest import Runner


def test_the_output_style_is_told_as_it_was_set(runner: Runner) -> None:
    (runner.home / ".claude/output-styles").mkdir(parents=True)
    (runner.home / ".claude/output-styles/terse.md").write_text("Answer in one line.")
    runner.serve("done", "done")
    for style, is_there in (("Terse", True), ("None Such", False)):
        live = runner.converse("--settings", f'{{"outputStyle": "{style}"}}')
        said = live.control("initialize", hooks=None)["response"]
        assert said["output_style"] == style
        assert said["available_output_styles"][0] == "default"
        assert said["available_output_styles"][-1] == "terse"
        live.say("hello")
        assert live.next("system", "init")["output_style"] == style
        assert live.next("result")["result"] == "done"
        assert live.finish().code == 0
        assert ("Answer in one line." in str(runner.requests[-1].json["system"])) is is_there
