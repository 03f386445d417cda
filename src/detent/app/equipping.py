"""What the loop goes by, for the log: a replay must not need anything else."""

from collections.abc import Callable, Sequence
from typing import Any

from msgspec import to_builtins
from msgspec.structs import replace

from detent.loop.kit import Kit
from detent.loop.limits import Limits
from detent.models.catalog import ModelFacts
from detent.types.codec import encode
from detent.types.events import Entry
from detent.types.messages import ToolSpec
from detent.types.running import Equipped

USUAL_LIMITS = Limits()


class Equipment:
    """Tells of a kit when it is new or another."""

    def __init__(self, facts: Callable[[str], ModelFacts], classifier: str = "") -> None:
        self._facts = facts
        self._classifier = classifier.rpartition("/")[2]
        self._kit: Kit | None = None
        self._specs: Sequence[ToolSpec] = ()
        self._last: Equipped | None = None

    def news(self, kit: Kit) -> Equipped | None:
        """None where nothing has changed since it was last asked for."""
        specs, begins = kit.toolbox.specs(), self._kit is None
        if kit is self._kit and specs == self._specs:
            return None
        self._kit, self._specs = kit, specs
        last = told_last(kit.conversation.entries) if begins else self._last
        model = kit.model
        self._last = Equipped(
            model=model.name,
            window=model.window,
            max_output=model.max_output,
            system=kit.system,
            tools=encode(specs).decode(),
            terms=self._terms(kit),
            begins=begins,
        )
        return short(self._last, last)

    def _terms(self, kit: Kit) -> dict[str, Any]:
        """Only what is not the usual: most of it never is."""
        conversation, limits = kit.conversation, kit.limits
        terms: dict[str, Any] = {"base": conversation.base, "family": conversation.family}
        if limits != USUAL_LIMITS:
            terms["limits"] = changed(limits)
        if shaping := changed(kit.shaping):
            terms["shaping"] = shaping
        if budget := to_builtins(kit.account.budget):
            terms["budget"] = budget
        if prices := self._prices(kit):
            terms["prices"] = prices
        if outputs := getattr(kit.model, "outputs", None):
            terms["outputs"] = outputs
        if held := getattr(kit.toolbox, "held", None):
            terms["held"] = encode(list(held.values())).decode()
        if kit.task is not None:
            terms["task"] = kit.task.total
        if kit.form:
            terms["form"] = kit.form
        if getattr(kit.model, "is_small", False):
            terms["small"] = True
        if kit.account.parent is not None:
            terms["shared"] = "strict" if kit.account.is_strict else "loose"
        return terms

    def _prices(self, kit: Kit) -> dict[str, Any]:
        """Of all that may be asked."""
        names = (*getattr(kit.model, "names", (kit.model.name,)), self._classifier)
        known = {name: self._facts(name) for name in names if name}
        return {
            name: {"price": facts.price, "above": to_builtins(facts.above)}
            for name, facts in known.items()
            if facts.price
        }


def told_last(entries: Sequence[Entry]) -> Equipped | None:
    """What the log says that a run went by, if all of it is there."""
    found: Equipped | None = None
    for entry in reversed(entries):
        if isinstance(entry, Equipped):
            found = entry if found is None else found.filled(entry)
            if not found.same:
                return found
    return None


def short(equipped: Equipped, last: Equipped | None) -> Equipped:
    """Without the prompt and the tools where they are as before: they are nearly all of it."""
    if last is None:
        return equipped
    is_same = {"system": equipped.system == last.system, "tools": equipped.tools == last.tools}
    same = tuple(name for name, is_one in is_same.items() if is_one)
    return replace(
        equipped,
        system=() if is_same["system"] else equipped.system,
        tools="" if is_same["tools"] else equipped.tools,
        same=same,
    )


def changed(struct: Any) -> dict[str, Any]:
    """The fields that are not the usual ones."""
    usual = type(struct)()
    return {
        name: to_builtins(value)
        for name in struct.__struct_fields__
        if (value := getattr(struct, name)) != getattr(usual, name)
    }
