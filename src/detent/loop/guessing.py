"""What a request and its answer may have cost, where the server does not say: an estimate."""

from detent.context.tokens import PER_ENTRY, family_of, of_blocks, of_system, of_tools
from detent.types.messages import Reply, Request
from detent.types.usage import Usage


def guess(request: Request, reply: Reply) -> Usage:
    family = family_of(reply.model)
    messages = (PER_ENTRY + of_blocks(message.content, family) for message in request.messages)
    given = of_system(request.system, family) + of_tools(request.tools, family) + sum(messages)
    return Usage(input=given, output=PER_ENTRY + of_blocks(reply.content, family))
