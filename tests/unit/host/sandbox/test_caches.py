"""Caches of tools that need one, where theirs cannot be written."""

from __future__ import annotations

from detent.host.sandbox.caches import cache_variables

from .conftest import Cell

ALL = {
    "UV_CACHE_DIR": "/t/caches/uv_cache_dir",
    "GOCACHE": "/t/caches/gocache",
    "npm_config_cache": "/t/caches/npm_config_cache",
}


def test_they_get_others() -> None:
    assert cache_variables({"HOME": "/home/x"}, ("/work",), "/t") == ALL
    assert cache_variables({}, (), "/t") == ALL


def test_what_may_be_written_stays() -> None:
    env = {"HOME": "/home/x", "GOCACHE": "/work/go"}
    found = cache_variables(env, ("/work", "/home/x/.cache"), "/t")
    assert found == {"npm_config_cache": ALL["npm_config_cache"]}
    env = {"HOME": "/home/x", "XDG_CACHE_HOME": "/cache", "GOCACHE": "/elsewhere"}
    found = cache_variables(env, ("/cache", "/home/x/.npm"), "/t")
    assert found == {"GOCACHE": ALL["GOCACHE"]}


def test_commands_can_write_there(cell: Cell) -> None:
    ran = cell.bash('mkdir -p "$GOCACHE" && echo x > "$GOCACHE/x" && echo written')
    assert ran.output == "written\n"
