"""A language server for tests: a real process that knows a toy language, and can misbehave.

    python fake_server.py FOLDER '{"withhold": [2]}'

In the toy language a line with BAD has an error, one with HMM a warning, and `def NAME` defines.
Every message that arrives is written to FOLDER/heard.jsonl.
"""

from __future__ import annotations

import json
import os
import re
import sys
import threading
import time
from pathlib import Path
from typing import Any

sys.setrecursionlimit(20_000)
FOLDER, MANNERS = Path(sys.argv[1]), json.loads(sys.argv[2] if len(sys.argv) > 2 else "{}")
TEXTS: dict[str, str] = {}
ONE_AT_A_TIME = threading.Lock()


def note(what: Any) -> None:
    with open(FOLDER / "heard.jsonl", "a", encoding="utf-8") as file:
        file.write(json.dumps(what) + "\n")


def send(**message: Any) -> None:
    send_raw(json.dumps({"jsonrpc": "2.0", **message}).encode())


def send_raw(body: bytes) -> None:
    with ONE_AT_A_TIME:
        sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        sys.stdout.buffer.flush()


def receive() -> dict[str, Any]:
    length = 0
    while line := sys.stdin.buffer.readline().strip():
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    if not length:
        sys.exit(0)
    return json.loads(sys.stdin.buffer.read(length))


def encoding() -> str:
    return MANNERS.get("encoding", "utf-16")


def offset(line: str, index: int) -> int:
    """Where a character is on the wire."""
    width = {"utf-8": 1, "utf-16": 2, "utf-32": 4}[encoding()]
    name = encoding() + ("" if encoding() == "utf-8" else "-le")
    return len(line[:index].encode(name)) // width


def word_under(params: dict[str, Any]) -> str:
    position = params["position"]
    line = TEXTS[params["textDocument"]["uri"]].split("\n")[position["line"]]
    for word in re.finditer(r"\w+", line):
        if offset(line, word.start()) <= position["character"] <= offset(line, word.end()):
            return word[0]
    return ""


def span(number: int, line: str, start: int, end: int) -> dict[str, Any]:
    return {
        "start": {"line": number, "character": offset(line, start)},
        "end": {"line": number, "character": offset(line, end)},
    }


def places(pattern: str) -> list[dict[str, Any]]:
    return [
        {"uri": uri, "range": span(number, line, *found.span(1))}
        for uri, text in TEXTS.items()
        for number, line in enumerate(text.split("\n"))
        for found in re.finditer(pattern, line)
    ]


def diagnostics(uri: str) -> list[dict[str, Any]]:
    found = []
    for number, line in enumerate(TEXTS[uri].split("\n")):
        for word in re.finditer(r"(BAD|HMM)(\w*)", line):
            severity = 1 if word[1] == "BAD" else 2
            said = {"severity": severity, "message": f"{word[0]} is wrong", "source": "toy"}
            found.append({"range": span(number, line, *word.span()), **said})
    return found


def publish(document: dict[str, Any]) -> None:
    if MANNERS.get("pull") or document["version"] in MANNERS.get("withhold", ()):
        return
    said = {"uri": document["uri"], "diagnostics": diagnostics(document["uri"])}
    if not MANNERS.get("unversioned"):
        said["version"] = document["version"]
    if MANNERS.get("in parts"):
        send(method="textDocument/publishDiagnostics", params={**said, "diagnostics": []})
    whole = {"method": "textDocument/publishDiagnostics", "params": said}
    if "ponders" in MANNERS:
        threading.Timer(MANNERS["ponders"], send, kwargs=whole).start()
    else:
        send(**whole)
    if MANNERS.get("looks back"):
        old = {**said, "version": document["version"] - 1, "diagnostics": []}
        send(method="textDocument/publishDiagnostics", params=old)


def symbols(uri: str) -> list[dict[str, Any]]:
    return [
        {"name": found[1], "kind": 12, "range": where, "selectionRange": where, "children": []}
        for number, line in enumerate(TEXTS[uri].split("\n"))
        for found in re.finditer(r"def (\w+)", line)
        for where in [span(number, line, *found.span(1))]
    ]


def answer(method: str, params: Any) -> Any:
    match method:
        case "initialize":
            return {"capabilities": capabilities()}
        case "textDocument/definition":
            word = word_under(params)
            if word.startswith("out"):
                return {"uri": f"file://{FOLDER}/lib.toy", "range": span(1, "", 0, 0)}
            return places(rf"def ({word})\b") if word else None
        case "textDocument/references" if "points at" in MANNERS:
            where = span(0, "", 0, 0)
            return [{"uri": f"file://{one}", "range": where} for one in MANNERS["points at"]]
        case "textDocument/references":
            found = places(rf"\b({word_under(params)})\b")
            return found[::-1] + found[:1]  # in no order, and one of them twice
        case "textDocument/hover":
            word = word_under(params)
            return (
                {"contents": {"kind": "markdown", "value": f"about **{word}**"}} if word else None
            )
        case "textDocument/documentSymbol":
            return symbols(params["textDocument"]["uri"])
        case "workspace/symbol":
            found = places(rf"def (\w*{params['query']}\w*)")
            return [{"name": params["query"], "kind": 12, "location": one} for one in found]
        case "textDocument/diagnostic":
            return {"kind": "full", "items": diagnostics(params["textDocument"]["uri"])}
    return None


def capabilities() -> dict[str, Any]:
    offered = ["definition", "references", "hover", "documentSymbol", "workspaceSymbol"]
    said: dict[str, Any] = {f"{one}Provider": True for one in offered}
    if MANNERS.get("pull"):
        said["diagnosticProvider"] = {"interFileDependencies": False}
    if encoding() != "utf-16":
        said["positionEncoding"] = encoding()
    return said


def ask_first() -> None:
    """Requests of our own, before we answer anything."""
    asked = [
        ("workspace/configuration", {"items": [{"section": "toy"}, {}]}),
        ("client/registerCapability", {"registrations": []}),
        ("window/workDoneProgress/create", {"token": "t"}),
        ("workspace/applyEdit", {"edit": {}}),
        ("workspace/semanticTokens/refresh", None),
        ("toy/unheard", {}),
    ]
    for number, (method, params) in enumerate(asked):
        send(id=f"s{number}", method=method, params=params)


def babble_if_wanted(method: str) -> None:
    if method == MANNERS.get("babbles_on"):
        sys.stdout.write("nonsense " * 20_000)
        sys.stdout.flush()
        time.sleep(600)


def crash_if_wanted(method: str) -> None:
    if method != MANNERS.get("crash_on"):
        return
    before = len(list(FOLDER.glob("crash-*")))
    if before < MANNERS.get("crashes", 1):
        (FOLDER / f"crash-{before}").touch()
        print("the toy broke", file=sys.stderr, flush=True)
        os._exit(3)


def take(message: dict[str, Any]) -> None:
    method, params = message.get("method", ""), message.get("params")
    crash_if_wanted(method)
    babble_if_wanted(method)
    match method:
        case "textDocument/didOpen":
            TEXTS[params["textDocument"]["uri"]] = params["textDocument"]["text"]
            publish(params["textDocument"])
        case "textDocument/didChange":
            TEXTS[params["textDocument"]["uri"]] = params["contentChanges"][-1]["text"]
            publish(params["textDocument"])
        case "textDocument/didClose":
            del TEXTS[params["textDocument"]["uri"]]
        case "exit" if not MANNERS.get("stubborn"):
            sys.exit(0)
    if "id" in message and method and method not in MANNERS.get("ignores", ()):
        respond(message["id"], method, params)


def respond(number: int, method: str, params: Any) -> None:
    if method == "initialize" and MANNERS.get("asks first"):
        ask_first()
    refused = MANNERS.get("refuses", {}).get(method, [])
    if refused:
        send(id=number, error=refused.pop(0))
    else:
        send(id=number, result=answer(method, params))


def work() -> None:
    """Says that it reads the project, finds nothing meanwhile, and is then ready."""
    send(method="$/progress", params={"token": "t", "value": {"kind": "begin", "title": "x"}})
    message = receive()
    while message.get("method") != "textDocument/definition":
        note(message)
        take(message)
        message = receive()
    note(message)
    send(id=message["id"], result=[])
    send(method="$/progress", params={"token": "t", "value": {"kind": "end"}})


DEEP = b"[" * 50_000 + b"]" * 50_000
"""More than any interpreter follows."""


def main() -> None:
    note({"pid": os.getpid(), "cwd": os.getcwd()})
    if MANNERS.get("greets"):
        print("hello, this is toy 1.0\n", flush=True)
    if MANNERS.get("digs deep"):
        value = b'{"token": 1, "value": {"kind": %b}}' % DEEP
        send_raw(b'{"jsonrpc": "2.0", "method": "$/progress", "params": %b}' % value)
    while True:
        message = receive()
        note(message)
        take(message)
        if message.get("method") == "initialized" and MANNERS.get("busy"):
            work()


if __name__ == "__main__":
    main()
