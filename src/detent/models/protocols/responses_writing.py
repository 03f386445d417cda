"""What a request of the Responses wire is made of: its head, and the items of a conversation."""

import re
from typing import Any

from msgspec import Raw

from detent.models.protocols.forms import is_strict
from detent.models.protocols.wire import Manner, document_text, parsed_arguments
from detent.types.codec import arguments_object
from detent.types.content import Call, Document, Image, Opaque, Result, Text, Thinking
from detent.types.messages import Assistant, Request, ToolSpec, User

_THREE_DEGREES = ("o1", "o3", "o4", "codex-mini", "gpt-oss")
"""Models that know only low, medium and high effort."""


def head_of(request: Request, model: str, max_output: int, manner: Manner) -> dict[str, Any]:
    head: dict[str, Any] = {"model": model, "stream": True, "store": False}
    if request.system:
        head["instructions"] = "\n\n".join(request.system)
    if request.tools or manner.server_tools:
        head["tools"] = [*map(_tool, request.tools), *manner.server_tools]
    if max_output:
        head["max_output_tokens"] = max_output
    if manner.thinks:
        head["reasoning"] = _reasoning(model, manner)
        # Models that do not reason refuse to be asked for it.
        head["include"] = ["reasoning.encrypted_content"]
    if request.form is not None:
        form = {"name": "answer", "schema": request.form, "strict": is_strict(request.form)}
        head["text"] = {"format": {"type": "json_schema", **form}}
    return head


def _tool(tool: ToolSpec) -> dict[str, Any]:
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.schema,
        "strict": False,  # our schemas have optional fields, which strict ones must not
    }


def _reasoning(model: str, manner: Manner) -> dict[str, str]:
    if manner.thinking_budget == 0:
        return {"effort": _least_effort(model)}
    summary = {"summary": "auto"}
    return {"effort": _effort(model, manner.effort), **summary} if manner.effort else summary


def _least_effort(model: str) -> str:
    """`none` came with 5.1; before it a model thinks at least a little."""
    if _bare(model).startswith(_THREE_DEGREES):
        return "low"
    return "none" if (_version(model) or (6, 0)) >= (5, 1) else "minimal"


def _effort(model: str, effort: str) -> str:
    """The degrees above `high` came one by one; a model that lacks one gets the next below."""
    if effort not in ("xhigh", "max"):
        return effort
    version, bare = _version(model) or (6, 0), _bare(model)
    if bare.startswith(_THREE_DEGREES) or (version < (5, 2) and "codex-max" not in bare):
        return "high"
    return effort if version >= (5, 6) else "xhigh"


def _version(model: str) -> tuple[int, int] | None:
    found = re.match(r"gpt-(\d{1,3})(?:\.(\d{1,3}))?", _bare(model), re.ASCII)
    return (int(found[1]), int(found[2] or 0)) if found else None


def _bare(model: str) -> str:
    return model.rpartition("/")[2]


def assistant_items(message: Assistant, *, keep: bool) -> list[Any]:
    """`keep`: reasoning and foreign items go back. They refer to each other, so all or none do."""
    items: list[Any] = []
    last = 0
    for block in message.content:
        match block:
            case Text(text=text) if text:
                content = [{"type": "output_text", "text": text}]
                items.append({"type": "message", "role": "assistant", "content": content})
                last = len(items)
            case Call():
                items.append(_call_item(block))
                last = len(items)
            case Opaque(data=data) if keep and arguments_object(data):
                items.append(Raw(data.encode()))
                last = len(items)
            case Thinking(signature=item) if keep and _is_sealed(item):
                items.append(Raw(item.encode()))
            case _:
                pass
    return items[:last]  # reasoning that led to nothing is refused


def _is_sealed(item: str) -> bool:
    """Without its encrypted content a reasoning item is a name the server does not know."""
    fields = arguments_object(item) or {}
    return fields.get("type") == "reasoning" and bool(fields.get("encrypted_content"))


def _call_item(call: Call) -> dict[str, str]:
    return {
        "type": "function_call",
        "call_id": call.id,
        "name": call.name,
        "arguments": bytes(parsed_arguments(call.arguments)).decode(),
    }


def user_items(message: User) -> list[dict[str, Any]]:
    """Results are items of their own; what is left goes into one message behind them."""
    items = [_result_item(block) for block in message.content if isinstance(block, Result)]
    rest = [
        _input_part(block)
        for block in message.content
        if not isinstance(block, Result) and block != Text("")
    ]
    if rest:
        items.append({"type": "message", "role": "user", "content": rest})
    return items


def _result_item(result: Result) -> dict[str, Any]:
    """There is no sign for an error; the text says what went wrong."""
    output: Any = "".join(part.text for part in result.content if isinstance(part, Text))
    if any(not isinstance(part, Text) for part in result.content):
        output = [_input_part(part) for part in result.content if part != Text("")]
    item = {"type": "function_call_output", "call_id": result.call_id}
    return {**item, "output": output or "(no output)"}


def _input_part(block: Text | Image | Document) -> dict[str, str]:
    match block:
        case Text(text=text):
            return {"type": "input_text", "text": text}
        case Image():
            return {"type": "input_image", "image_url": _data_url(block), "detail": "auto"}
        case Document(name=name):
            if (words := document_text(block)) is not None:  # not every model reads such a file
                return {"type": "input_text", "text": f"{name}:\n{words}" if name else words}
            name = name or "document.pdf"
            return {"type": "input_file", "filename": name, "file_data": _data_url(block)}


def _data_url(block: Image | Document) -> str:
    return f"data:{block.media_type};base64,{block.data}"
