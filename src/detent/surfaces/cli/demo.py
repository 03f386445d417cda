"""`detent demo`: the main job in a scratch repository, on the best model at hand.

A configured one, else a server on this machine, else the embedded model; and if none can be had, a
script that is labelled as one. Whether it worked is found out by us, not told by the model.
"""

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
from contextlib import aclosing

from msgspec import Struct

from detent.sdk.local_models import PullFailed, look_for_models
from detent.sdk.options import Options
from detent.sdk.session import Session
from detent.surfaces.arguments import Arguments
from detent.surfaces.cli.demo_tasks import MENDING, SMALL, Task
from detent.surfaces.cli.models import fetch
from detent.surfaces.headless.activity import Activity
from detent.surfaces.headless.exit_codes import UNAVAILABLE
from detent.surfaces.headless.stdout import Stdout
from detent.surfaces.headless.text import TextWriter
from detent.types.errors import BadInput, NoModel
from detent.types.events import TurnEnded

SKIP = "(to skip this: `make tour`, or `detent demo --scripted`)"


class Choice(Struct, frozen=True):
    model: str
    label: str
    task: Task = MENDING


def demo(words: tuple[str, ...], arguments: Arguments) -> int:
    if words:
        raise BadInput(f"detent demo takes no words; not {' '.join(words)!r}")
    return run_demo(arguments.value("--model"), scripted=arguments.on("--scripted"))


def run_demo(model: str = "", *, scripted: bool = False) -> int:
    # An interrupt unwinds here, so that the scratch folder goes, too.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        choice = script("chosen") if scripted else asyncio.run(best_model(model))
        with tempfile.TemporaryDirectory(prefix="detent-demo-") as folder:
            prepare(folder, choice.task)
            return asyncio.run(_demo(folder, choice))
    except NoModel as error:
        _say(f"detent: {error}")
        return UNAVAILABLE
    except KeyboardInterrupt:
        _say("\nStopped. A download goes on where it stopped when you start the demo again.")
        return 130


def script(why: str) -> Choice:
    path = os.path.join(os.path.dirname(__file__), "demo.json")
    return Choice(f"scripted:{path}", f"SCRIPTED ({why}; the answers are canned)")


async def best_model(wanted: str = "") -> Choice:
    """What the user named, else what is at hand."""
    if wanted or os.environ.get("DETENT_MODEL"):
        async with Session(Options(model=wanted, persist=False)) as session:
            task = SMALL if session.model == "embedded" else MENDING
            return Choice(wanted, session.model, task)
    if configured := await _configured():
        return Choice("", configured)
    found = await look_for_models()
    for server in found.servers:
        return Choice(server.models[0], f"{server.models[0]}, found on {server.address}")
    if found.embedded == "extra missing":
        return script("no key is set, no server answers, the embedded model is not installed")
    if found.embedded != "ready":
        _say(f"No key is set and no server answers: the embedded model is fetched, once. {SKIP}")
        try:
            await fetch()
        except (PullFailed, OSError) as error:
            _say(f"That did not work: {error}")
            return script("no model can be had")
    label = f"embedded: {found.title}, small and offline, on this machine's processor"
    return Choice("embedded", label, SMALL)


async def _configured() -> str:
    try:
        async with Session(Options(persist=False)) as session:
            return session.model
    except (NoModel, BadInput):  # a server without a model's name is none yet
        return ""


def prepare(folder: str, task: Task) -> None:
    for name, text in ((".gitignore", "__pycache__/\n"), *task.files):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)
    _git(folder, "init", "-q")
    _git(folder, "add", ".")


def _git(folder: str, *arguments: str) -> str:
    """What git says; nothing where there is no git, the demo works without."""
    try:
        ran = subprocess.run(["git", *arguments], cwd=folder, check=False, capture_output=True)
    except OSError:
        return ""
    return ran.stdout.decode(errors="replace").rstrip()


async def _demo(folder: str, choice: Choice) -> int:
    task = choice.task
    options = Options(
        model=choice.model,
        cwd=folder,
        permission_mode="acceptEdits",
        allowed_tools=task.allowed,
        persist=False,
        max_turns=20,
    )
    async with Session(options) as session:
        _say(f"Model: {choice.label}")
        _say(f"{task.scene} Prompt: {task.prompt}\n")
        if choice.model == "embedded":
            _say("(It loads, then reads its prompt: ten seconds, more on a busy machine.)")
        writer, activity = TextWriter(Stdout()), Activity()
        async with aclosing(session.send(task.prompt)) as events:
            async for event in events:
                activity.tell(event)
                await writer.show(event)
                if isinstance(event, TurnEnded) and event.error:
                    _say(event.error)
    return _verdict(folder, task)


def _verdict(folder: str, task: Task) -> int:
    """The program itself says whether it worked, not the model."""
    good = task.holds(folder)
    _say(f"\n{task.good}" if good else f"\n{task.bad} (`make tour` shows how it should look.)")
    _say(_git(folder, "add", "--intent-to-add", ".") + _git(folder, "diff", "--stat"))
    return 0 if good else 1


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
