"""Values checked against a JSON schema that comes from elsewhere."""

from collections.abc import Mapping
from typing import Any

import jsonschema_rs

from detent.types.errors import BadInput

MOST_FAULTS, LONGEST_FAULT = 8, 300


class Checker:
    def __init__(self, schema: Mapping[str, Any]) -> None:
        """Offline: a schema that points elsewhere is refused, for nothing is fetched on its
        behalf."""
        try:
            self._validator = jsonschema_rs.validator_for(dict(schema), offline=True)
        except jsonschema_rs.ValidationError as error:
            where = f"the JSON schema is not valid at {_place(error)}"
            raise BadInput(f"{where}: {error.message[:LONGEST_FAULT]}") from None
        except ValueError as error:
            raise BadInput(f"the JSON schema is not valid: {error}") from None

    def faults(self, value: Any) -> str:
        """A line for each place that does not fit, the first ones; empty when all does."""
        lines: list[str] = []
        for error in self._validator.iter_errors(value):
            if len(lines) == MOST_FAULTS:
                return "\n".join([*lines, "- and more"])
            lines.append(f"- {_place(error)}: {error.message[:LONGEST_FAULT]}")
        return "\n".join(lines)


def _place(error: jsonschema_rs.ValidationError) -> str:
    """`$.items[2].name`"""
    steps = (f"[{s}]" if isinstance(s, int) else f".{s}" for s in error.instance_path)
    return "$" + "".join(steps)
