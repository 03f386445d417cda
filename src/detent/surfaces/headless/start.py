"""A headless run, from the command line to the exit code."""

import asyncio
import sys
from collections.abc import Callable

from msgspec.structs import replace

from detent.sdk.approval import Approver, FailingApprover
from detent.surfaces.arguments import Arguments
from detent.surfaces.headless.exit_codes import ERROR, READER_GONE, UNAVAILABLE, USAGE
from detent.surfaces.headless.stdin import read_context
from detent.surfaces.headless.stdout import ReaderGone, Stdout
from detent.surfaces.lines.telling import tell
from detent.surfaces.wishes import options_from, with_trace
from detent.types.content import Text
from detent.types.errors import BadInput, NoModel

WHOLE_ID = "00000000-0000-0000-0000-000000000000"
"""As long as any: one that is given whole need not be looked for."""


def start(arguments: Arguments) -> int:
    """Everything that can be wrong with the input is found before anything is written."""
    output = arguments.value("--output-format", "text")
    framed = arguments.value("--input-format") == "stream-json"
    if framed and output != "stream-json":
        raise BadInput("--input-format stream-json needs --output-format stream-json")
    options = options_from(arguments)
    if arguments.on("--debug"):
        options = with_trace(options, tell)
    prompt = () if framed else prompt_of(arguments)
    if len(arguments.values.get("--resume", WHOLE_ID)) != len(WHOLE_ID):
        from detent.surfaces.headless.resuming import session_meant

        options = replace(options, resume=session_meant(arguments))
    if framed:
        from detent.surfaces.headless.framed import converse

        job = converse(options, arguments)
    else:
        from detent.surfaces.headless.single import answer

        options = replace(options, approver=approver_for(arguments))
        job = answer(options, prompt, output, arguments)
    # Never closed: that would wait for threads, and the process ends here without any of them.
    return _run(lambda: asyncio.Runner().run(job), output)


def prompt_of(arguments: Arguments) -> tuple[Text, ...]:
    """Stdin is context and the prompt the instruction; without a prompt, stdin is the prompt."""
    prompt = " ".join(arguments.words)
    asks_on_stdin = arguments.value("--on-ask") == "stdio"
    context = "" if asks_on_stdin else read_context(bool(prompt.strip()), tell)
    if not prompt.strip() and not context.strip():
        raise BadInput('the prompt is empty; try: detent -p "…" (detent --help)')
    if not context.strip():
        return (Text(prompt),)
    if not prompt.strip():
        return (Text(context),)
    return (Text(f"<stdin>\n{context}\n</stdin>"), Text(prompt))


def approver_for(arguments: Arguments) -> Approver | None:
    match arguments.value("--on-ask", "deny"):
        case "fail":
            return FailingApprover()
        case "stdio":
            from detent.surfaces.lines.asking import LineApprover

            return LineApprover()
        case _:
            return None


def _run(job: Callable[[], int], output: str) -> int:
    try:
        return job()
    except NoModel as error:
        return failed(str(error), output, UNAVAILABLE, "no_model")
    except BadInput as error:
        return failed(str(error), output, USAGE, "bad_input")
    except ReaderGone as gone:
        return _unread(gone)


def _unread(gone: ReaderGone) -> int:
    if not str(gone):
        return READER_GONE
    tell(str(gone))
    return ERROR


def failed(message: str, output: str, code: int, reason: str) -> int:
    """Programs get a result object, people a sentence."""
    if reason == "no_model":
        from detent.sdk.local_models import embedded_state, look_for_servers
        from detent.surfaces.headless.no_model import no_model

        print_error = no_model(message, asyncio.run(look_for_servers()), embedded_state())
    else:
        print_error = f"detent: {message}\n"
    sys.stderr.write(print_error)
    if output != "text":
        from detent.surfaces.headless.frames import frame_line
        from detent.surfaces.headless.result import failed_result

        try:
            asyncio.run(Stdout().write(frame_line(failed_result("", message, reason))))
        except ReaderGone as gone:
            return _unread(gone)
    return code
