"""Who worked for whom in a session, how it went and what it cost."""

from collections.abc import Mapping

from detent.app.agents.tree import AgentNode, AgentTree, tree_of
from detent.app.options import Options

__all__ = ["AgentNode", "AgentTree", "agents_tree"]


def agents_tree(
    wanted: str = "", *, cwd: str = "", environ: Mapping[str, str] | None = None
) -> AgentTree:
    """Of a saved session, found as `detent sessions show` does; the newest here, where none is
    said. Raises BadInput."""
    return tree_of(Options(cwd=cwd, environ=environ), wanted)
