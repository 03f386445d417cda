"""Build what is measured, in bench/build: clean environments and the C floor."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

BENCH = Path(__file__).resolve().parent
BUILD = BENCH / "build"
PROJECT = BENCH.parent


def make_venv(name: str) -> Path:
    """An empty environment: no pip, no setuptools, whose .pth files would slow each start."""
    root = BUILD / name
    python = root / "bin" / "python"
    if not python.exists():
        command = [base_python(), "-m", "venv", "--without-pip", str(root)]
        subprocess.run(command, check=True)
    return python


def base_python() -> str:
    return str(getattr(sys, "_base_executable", "") or sys.executable)


def floor_python() -> Path:
    """The floors' interpreter: detent's Python in an environment with nothing in it."""
    return make_venv("floor-venv")


def detent_command() -> Path | None:
    """Install the project (not editable, bytecode compiled) unless the sources are unchanged."""
    if not (PROJECT / "pyproject.toml").exists():
        return None
    script = BUILD / "venv" / "bin" / "detent"
    stamp = BUILD / "venv.stamp"
    state = fingerprint()
    if script.exists() and stamp.exists() and stamp.read_text() == state:
        return script
    shutil.rmtree(BUILD / "venv", ignore_errors=True)
    python = make_venv("venv")
    pip = [sys.executable, "-m", "pip", "--python", str(python), "--disable-pip-version-check"]
    install = [*pip, "install", "--quiet", "--compile", str(PROJECT)]
    done = subprocess.run(install, check=False, capture_output=True, text=True)
    if done.returncode:
        print(f"pip failed:\n{done.stderr[-2000:]}", file=sys.stderr)
        return None
    stamp.write_text(state)
    return script if script.exists() else None


def fingerprint() -> str:
    """Of every file that ends up in the wheel."""
    state = hashlib.sha256(sys.version.encode())
    sources = [path for path in (PROJECT / "src").rglob("*") if path.suffix != ".pyc"]
    for path in [PROJECT / "pyproject.toml", *sorted(sources)]:
        if path.is_file():
            state.update(str(path.relative_to(PROJECT)).encode() + path.read_bytes())
    return state.hexdigest()


def c_binary() -> Path | None:
    """None without a (working) compiler; the report then says so."""
    compiler = shutil.which("cc")
    source = BENCH / "floors" / "client.c"
    if not compiler:
        return None
    binary = BUILD / "client"
    if not binary.exists() or binary.stat().st_mtime < source.stat().st_mtime:
        BUILD.mkdir(exist_ok=True)
        command = [compiler, "-O2", "-Wall", "-o", str(binary), str(source)]
        if subprocess.run(command, check=False).returncode:
            return None
    return binary
