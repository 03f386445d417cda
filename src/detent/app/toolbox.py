"""Which tools a session has: built-in ones, the caller's own, plugins', and the one for a form."""

from detent.app.options import Options
from detent.gate.terms import RuleSet
from detent.ports import Tool, Toolbox
from detent.tools.registry import Registry
from detent.types.errors import BadInput


def toolbox_of(options: Options, rules: RuleSet) -> tuple[Toolbox, str]:
    """The tools, and the name of the one that takes the final answer, where it must have a form."""
    return _with_form(options, options.toolbox or _toolbox(options, rules))


def _toolbox(options: Options, rules: RuleSet) -> Toolbox:
    """A tool that is denied as a whole is not offered to the model at all."""
    extra: list[Tool] = [*options.custom_tools]
    if options.plugin_dirs:
        from detent.app.extensions.plugin_tools import plugin_tools

        extra += plugin_tools(options.plugin_dirs)
    denied = {rule.tool for rule in rules.deny if not rule.what}
    try:
        registry = Registry(options.tools, extra)
        if denied:
            offered = [spec.name for spec in registry.specs() if spec.name not in denied]
            return Registry(offered, [tool for tool in extra if tool.spec.name not in denied])
    except ValueError as error:
        raise BadInput(str(error)) from None
    return registry


def _with_form(options: Options, toolbox: Toolbox) -> tuple[Toolbox, str]:
    """With a schema one tool more: the one that takes the final answer, and its name."""
    if options.json_schema is None:
        return toolbox, ""
    from detent.tools.structured_output import Beside, StructuredOutput

    tool = StructuredOutput(options.json_schema)
    return Beside(toolbox, tool), tool.spec.name
