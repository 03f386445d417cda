"""Whatever graph of imports there is, gathering it ends, and every file is read at most once."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from detent.context.memory.frontmatter import head_and_body
from detent.context.memory.markdown import imports_of, without_comments
from detent.context.memory.record import DEEPEST, MOST_OF_ALL, Found
from detent.context.memory.trees import Gathering, Sheet

NODES = 12
node = st.integers(0, NODES - 1)
graphs = st.fixed_dictionaries({
    "links": st.lists(st.lists(node, max_size=6), min_size=NODES, max_size=NODES),
    "sizes": st.lists(
        st.sampled_from([0, 10, 39_000, 200_000]), min_size=NODES, max_size=NODES
    ),
    "real": st.lists(node, min_size=NODES, max_size=NODES),
    "roots": st.lists(node, min_size=1, max_size=5),
})  # fmt: skip
"""Of files f0 … f11: whom each imports, how long it is, and which file it really is."""


def sheets(graph: dict[str, list]) -> dict[str, Sheet]:  # type: ignore[type-arg]
    found = {}
    for number in range(NODES):
        real = graph["real"][number]
        links = " ".join(f"@f{link}" for link in graph["links"][real])
        text = f"MARK{real}. {links}\n{'x' * graph['sizes'][real]}"
        found[f"f{number}"] = Sheet(f"/f{number}", f"/f{real}", text)
    return found


@given(graphs)
def test_each_real_file_is_read_at_most_once(graph: dict[str, list]) -> None:  # type: ignore[type-arg]
    files = sheets(graph)
    gathering = Gathering(lambda name, by: files.get(name), lambda importer, sheet: "")
    text, read = "", Counter[str]()
    for root in graph["roots"]:
        found = Found(f"/f{root}", "project", "why")
        tree = gathering.take(found, files[f"f{root}"], lambda globs: True)
        text += tree.text
        read.update(piece.path for piece in tree.pieces if piece.state in ("loaded", "cut"))
    marks = [text.count(f"MARK{number}.") for number in range(NODES)]
    assert max(marks) <= 1
    assert sum(marks) == sum(read.values())
    assert max(read.values(), default=0) <= 1
    assert gathering.room >= 0
    notes = 2_000 * NODES
    assert len(text) <= MOST_OF_ALL + notes


@given(graphs)
def test_everything_near_enough_is_read_while_there_is_room(graph: dict[str, list]) -> None:  # type: ignore[type-arg]
    graph = {**graph, "sizes": [10] * NODES, "real": list(range(NODES))}
    files = sheets(graph)
    gathering = Gathering(lambda name, by: files.get(name), lambda importer, sheet: "")
    root = graph["roots"][0]
    tree = gathering.take(Found(f"/f{root}", "project", "why"), files[f"f{root}"], lambda g: True)
    near, edge = {root}, {root}
    for _ in range(DEEPEST):
        edge = {link for one in edge for link in graph["links"][one]} - near
        near |= edge
    read = {int(p.path.removeprefix("/f")) for p in tree.pieces if p.state == "loaded"}
    assert read == near


@given(st.text(alphabet="`~@<!->\n ax/.-:{}[]'\",#\\pths"))
def test_no_text_is_too_odd(text: str) -> None:
    globs, body = head_and_body(text)
    assert text.endswith(body)
    assert len(without_comments(body)) <= len(body)
    assert all(name and not name.isspace() for name in imports_of(body))
    assert all(globs)
