"""A mirror whose keeper is killed at any moment: the next one finds it right, or begins anew."""

from __future__ import annotations

import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest

from detent.app.checkpoints.terms import Terms
from detent.app.checkpoints.workspace import MirroredWorkspace
from detent.session.blobs import Blobs

KEEPER = """if True:
    import sys
    from pathlib import Path
    from detent.app.checkpoints.terms import Terms
    from detent.app.checkpoints.workspace import MirroredWorkspace
    from detent.session.blobs import Blobs

    root, home = Path(sys.argv[1]), sys.argv[2]
    print("begin", flush=True)
    workspace = MirroredWorkspace([str(root)], home, Terms(), Blobs(home))
    for step in range(100_000):
        workspace.settle(workspace.touched(), f"call_{step}")
        (root / f"f{step % 7}").write_text(f"{step} " * (step % 500))
        workspace.changes(workspace.touched())
        print(step, flush=True)
"""


@pytest.mark.parametrize("lines", [1, 2, 3, 5, 8, 13, 40, 90])
def test_it_is_right_or_begun_anew(tmp_path: Path, lines: int) -> None:
    root, home = tmp_path / "work", tmp_path / "home"
    root.mkdir()
    for number in range(30):
        (root / f"old{number}").write_text(f"{number}" * 1000)
    with subprocess.Popen(
        [sys.executable, "-c", KEEPER, str(root), str(home)], stdout=subprocess.PIPE
    ) as keeper:
        assert keeper.stdout is not None
        for _ in range(lines):
            assert keeper.stdout.readline()
        keeper.kill()
    before = {path: path.read_bytes() for path in root.iterdir()}
    workspace = MirroredWorkspace([str(root)], str(home), Terms(), Blobs(str(home)))
    (tree,) = workspace.trees
    assert not tree.mirror.is_shared, "its lock went with it"
    for name, seen in tree.mirror.folders[""].items():
        data = tree.mirror.get(seen)
        assert (data, sha256(data).digest()) == (before[root / name], seen.digest)
    for path in before:
        path.unlink()
    changes = workspace.changes(workspace.touched())
    blobs = Blobs(str(home))
    assert {Path(c.path): blobs.get(c.before.digest) for c in changes} == before
    workspace.close()
