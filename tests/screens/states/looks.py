"""The same in other themes, widths and scripts; and all of it, as the transcript shows it."""

from __future__ import annotations

from detent.types.content import Call, Text, Thinking
from detent.types.events import Replied

from .. import story
from ..bench import Bench
from . import state
from .asking import may_run
from .ended import TESTS


def a_turn(bench: Bench) -> None:
    """Something of everything."""
    bench.open()
    bench.hear(story.prompt("Make the totals right"))
    bench.hear(*story.answered("I use `Decimal`, **rounded half up**:"))
    bench.hear(*story.edit(1, "src/price.py", story.SMALL_PATCH))
    bench.hear(*story.bash(2, "pytest -q", TESTS, code=1))
    bench.hear(*story.todos(3, ("completed", "Use Decimal"), ("in_progress", "Mend the test")))


@state(columns=20, rows=24)
async def narrow(bench: Bench) -> None:
    a_turn(bench)
    bench.pass_time(8)


@state(columns=20, rows=30)
async def narrow_permission(bench: Bench) -> None:
    bench.open()
    bench.hear(story.prompt("Format the sources"))
    await may_run(bench)


@state(environ={"NO_COLOR": "1"})
async def plain(bench: Bench) -> None:
    a_turn(bench)
    await may_run(bench, "down")


@state(theme="light")
async def light(bench: Bench) -> None:
    a_turn(bench)
    await may_run(bench, "down")


@state(theme="dark-daltonized")
async def daltonized(bench: Bench) -> None:
    a_turn(bench)
    bench.stage.hear_end(story.end(), 0.0412)


@state(theme="light-daltonized")
async def daltonized_light(bench: Bench) -> None:
    a_turn(bench)
    bench.stage.hear_end(story.end(), 0.0412)


@state(theme="ansi")
async def sixteen_colours(bench: Bench) -> None:
    a_turn(bench)
    bench.stage.hear_end(story.end(), 0.0412)


@state(columns=60)
async def wide_characters(bench: Bench) -> None:
    bench.open()
    bench.hear(story.prompt("領収書の合計がおかしいです。直してください 🙏"))
    bench.hear(*story.answered(
        "合計は `float` で計算されているため、端数が正しく丸められていません。"
        "**Decimal** を使い、四捨五入に変更します 🎉\n\n"
        "| 項目 | 値 |\n|---|---|\n| 小計 | 1,200 |\n| 消費税 | 120 |\n\n"
        "- ✅ テスト\n- 🚀 公開\n"
    ))  # fmt: skip
    command = "echo '合計: 1,320円' && cat 領収書/二月/とても長い名前のファイル.md"
    bench.hear(*story.bash(1, command, "合計: 1,320円"))
    bench.stage.hear_end(story.end(), 0.0412)
    bench.type("ありがとう！ 次は請求書もお願いします 😀 そして英語版も作ってください。よろしく")


@state(rows=44)
async def transcript(bench: Bench) -> None:
    command = "pytest -q"
    call = Call("c2", "Bash", f'{{"command":"{command}"}}')
    content = (Thinking("A cent is a float.\nLook at round()."), Text("I look at it."), call)
    bench.session.entries = (
        story.prompt("Make the totals right"),
        Replied(turn=1, step=1, model="m", content=content, stop="tool_use", usage=story.USAGE),
        *story.edit(1, "src/price.py", story.SMALL_PATCH),
        *story.bash(2, command, TESTS, code=1),
        story.answer("One test still fails: it expects `2.68`."),
        story.end(),
    )  # type: ignore[assignment]
    bench.open()
    bench.act("transcript")
