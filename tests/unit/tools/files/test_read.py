"""Read."""

from __future__ import annotations

import os
import struct
from base64 import b64decode
from collections.abc import Callable
from typing import Any

import pytest

from detent.ports import BadArguments, FileFacts
from detent.testing.memory_host import MemoryHost
from detent.tools.files.read import ReadArgs
from detent.types.content import Image
from detent.types.effects import Reads
from detent.types.outcomes import Done, Failed, text_of

from ..conftest import Bench

Memory = Callable[..., Bench]


def parsed(bench: Bench, arguments: str) -> Any:
    tool = bench.registry.find("Read")
    assert tool is not None
    return tool.parse(arguments)


def test_lines_are_numbered(memory: Memory) -> None:
    bench = memory({"/p/a.txt": "one\ntwo\n"})
    outcome = bench.call("Read", file_path="a.txt")
    assert text_of(outcome) == "     1\tone\n     2\ttwo"
    assert isinstance(outcome, Done)
    assert outcome.data == {
        "type": "text",
        "file": {
            "filePath": "/p/a.txt",
            "content": "one\ntwo",
            "numLines": 2,
            "startLine": 1,
            "totalLines": 2,
        },
    }
    assert "/p/a.txt" in bench.known


def test_a_part(memory: Memory) -> None:
    bench = memory({"/p/a": "".join(f"line {n}\n" for n in range(1, 11))})
    said = bench.text("Read", file_path="a", offset=4, limit=2)
    assert said == ("[/p/a: lines 4-5 of 10; go on with offset=6.]\n     4\tline 4\n     5\tline 5")
    assert bench.text("Read", file_path="a", offset=10) == "    10\tline 10"
    assert bench.text("Read", file_path="a", offset=0, limit=1).endswith("     1\tline 1")


def test_two_thousand_lines_unless_asked(memory: Memory) -> None:
    bench = memory({"/p/a": "x\n" * 2_500})
    said = bench.text("Read", file_path="a")
    assert said.startswith("[/p/a: lines 1-2000 of 2500; go on with offset=2001.]")
    assert said.endswith("  2000\tx")


def test_long_lines_and_long_results_are_cut(memory: Memory) -> None:
    bench = memory({"/p/a": "y" * 5_000 + "\n" + "z\n", "/p/b": ("b" * 1_999 + "\n") * 200})
    said = bench.text("Read", file_path="a")
    assert "1 line cut at 2000 characters" in said
    assert "y" * 2_000 + "[cut]\n     2\tz" in said
    said = bench.text("Read", file_path="b")
    assert len(said) < 30_000, "less than the loop would cut"
    assert "lines 1-13 of 200; go on with offset=14" in said


def test_past_the_end(memory: Memory) -> None:
    said = memory({"/p/a": "x\n"}).text("Read", file_path="a", offset=7)
    assert said == "Read: offset 7 is past the end: /p/a has 1 line."


def test_an_empty_file_is_said_and_known(memory: Memory) -> None:
    bench = memory({"/p/a": ""})
    assert bench.text("Read", file_path="a") == "/p/a is empty."
    assert "/p/a" in bench.known


def test_carriage_returns_and_marks_are_not_shown(memory: Memory) -> None:
    bench = memory({"/p/a": b"\xef\xbb\xbfone\r\ntwo\r\n"})
    assert bench.text("Read", file_path="a") == "     1\tone\n     2\ttwo"


def test_only_newlines_end_lines(memory: Memory) -> None:
    bench = memory({"/p/a": "a\x0cb\u2028c\nd"})
    assert bench.text("Read", file_path="a") == "     1\ta\x0cb\u2028c\n     2\td"


def test_bytes_that_are_not_utf8_are_shown_with_a_note(memory: Memory) -> None:
    said = memory({"/p/a": b"caf\xe9\n"}).text("Read", file_path="a")
    assert said.startswith("[/p/a: not valid UTF-8")
    assert said.endswith("     1\tcaf\ufffd")


def test_binary_files_are_refused(memory: Memory) -> None:
    bench = memory(
        {"/p/a": b"\x7fELF\0\0", "/p/b": b"\xff\xfe\0\0x\0\0\0", "/p/c": b"\xff\xfea\0b"}
    )
    assert "binary file of 6 bytes" in bench.text("Read", file_path="a")
    assert "binary file of 8 bytes" in bench.text("Read", file_path="b"), "UTF-32"
    assert "binary file of 5 bytes" in bench.text("Read", file_path="c"), "half a character"
    assert not bench.known


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf16_is_text(memory: Memory, encoding: str) -> None:
    bench = memory({"/p/a": "\ufeffgrün\r\n😀".encode(encoding)})
    said = bench.text("Read", file_path="a")
    name = encoding.upper()
    assert said == f"[/p/a: encoded as {name}; Edit keeps that.]\n     1\tgrün\n     2\t😀"
    assert "/p/a" in bench.known


def test_a_file_that_vanishes_meanwhile(memory: Memory) -> None:
    class Vanishing(MemoryHost):
        async def facts(self, path: str) -> FileFacts | None:
            found = await super().facts(path)
            self.files.pop(path, None)
            return found

    outcome = Bench(Vanishing({"/p/a": "x", "/p/b": ""}), "/p").call("Read", file_path="a")
    assert outcome == Failed("Read: No such file or directory: /p/a")


def test_pipes_and_devices_are_refused(disk: Bench) -> None:
    os.mkfifo(os.path.join(disk.cwd, "pipe"))
    assert "Not a regular file" in disk.text("Read", file_path="pipe")
    assert "Not a regular file" in disk.text("Read", file_path="/dev/zero")
    assert disk.known == {}


def test_large_files_are_refused_with_a_way_on(memory: Memory) -> None:
    said = memory({"/p/a": b"x" * 10_485_761}).text("Read", file_path="a")
    assert "10,485,761 bytes" in said
    assert "Grep" in said
    assert "head" in said


def png(width: int, height: int, size: int = 100) -> bytes:
    return (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", width, height)).ljust(size, b"\0")


def jpeg(width: int, height: int) -> bytes:
    app = b"\xff\xe0" + struct.pack(">H", 16) + b"\0" * 14
    frame = b"\xff\xc0" + struct.pack(">HBHH", 17, 8, height, width) + b"\0" * 10
    return b"\xff\xd8" + app + frame


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (png(10, 10), "image/png"),
        (jpeg(10, 10), "image/jpeg"),
        (b"GIF89a\x01\0\x01\0", "image/gif"),
        (b"RIFF\0\0\0\0WEBPVP8 ", "image/webp"),
    ],
)
def test_pictures(memory: Memory, data: bytes, kind: str) -> None:
    outcome = memory({"/p/a.txt": data}).call("Read", file_path="a.txt")
    assert isinstance(outcome, Done)
    (image,) = outcome.content
    assert isinstance(image, Image)
    assert image.media_type == kind
    assert b64decode(image.data) == data


@pytest.mark.parametrize("data", [png(10, 10, 3_932_161), png(9_000, 10), jpeg(10, 9_000)])
def test_pictures_no_model_takes_are_refused(memory: Memory, data: bytes) -> None:
    said = memory({"/p/a.png": data}).text("Read", file_path="a.png")
    assert "Make a smaller copy" in said


def test_a_folder_is_listed(memory: Memory) -> None:
    bench = memory({"/p/src/a.py": "", "/p/src/deep/b.py": ""})
    said = bench.text("Read", file_path="src")
    assert said == "Read: /p/src is a folder, not a file. It holds:\na.py\ndeep/"
    many = memory({f"/p/{n:03}": "" for n in range(60)}).text("Read", file_path="/p")
    assert many.endswith("\n049\n... (find the others with Glob)")


def test_a_missing_file_names_its_neighbours(memory: Memory) -> None:
    bench = memory({"/p/src/Config.py": "", "/p/src/other.rs": ""})
    said = bench.text("Read", file_path="src/confg.py")
    assert said == "Read: /p/src/confg.py does not exist. Names near it: src/Config.py."
    said = bench.text("Read", file_path="lib/deep/x.py")
    assert said == "Read: /p/lib/deep/x.py does not exist; of its folders only /p does."
    assert "relative to /p" in bench.text("Read", file_path="zzzzzz")


def test_what_commands_have_left_in_a_tmp_of_their_own_is_explained(memory: Memory) -> None:
    bench = memory({"/own/tmp/deep/x": "", "/tmp/there": "", "/p/a": ""})
    missing = "Read: /tmp/deep/x does not exist"
    assert bench.text("Read", file_path="/tmp/deep/x").startswith(missing)
    bench.host.temporary = "/own/tmp"
    said = bench.text("Read", file_path="/tmp/deep/x")
    assert said.startswith("Read: /tmp/deep/x is not here: commands of Bash have temporary files")
    assert said.endswith("$TMPDIR/deep/x.")
    assert "does not exist" in bench.text("Read", file_path="/tmp/y")
    assert "does not exist" in bench.text("Read", file_path="/p/deep/x")


def test_an_unreadable_file_is_an_outcome(memory: Memory) -> None:
    class Closed(MemoryHost):
        async def read(self, path: str, limit: int, *, real: bool = False) -> bytes:
            raise PermissionError(13, "Permission denied", path)

    bench = Bench(Closed({"/p/a": "x"}), "/p")
    outcome = bench.call("Read", file_path="a")
    assert outcome == Failed("Read: Permission denied: /p/a")


def test_strange_names(disk: Bench, memory: Memory) -> None:
    name = "ünï/名前/😀 file.txt"
    assert memory({f"/p/{name}": "x"}).text("Read", file_path=name) == "     1\tx"
    assert isinstance(disk.call("Read", file_path="a\0b"), Failed)
    assert isinstance(disk.call("Read", file_path="n" * 5_000), Failed)
    assert isinstance(disk.call("Read", file_path=""), Failed)


def test_names_of_arguments_that_others_taught(memory: Memory) -> None:
    bench = memory()
    assert parsed(bench, '{"path": "a", "start_line": 3, "end_line": 5}') == ReadArgs("a", 3, 3)
    assert parsed(bench, '{"file_path": "a", "limit": null, "offset": "2"}') == ReadArgs("a", 2)


SIGNATURE = 'Send {"file_path": string, "offset"?: integer, "limit"?: integer, "pages"?: string}.'


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        ("", "`file_path` is missing."),
        ("{}", "`file_path` is missing."),
        ('{"file_path": "a"', "the arguments are not valid JSON (Input data was truncated)."),
        ("[1]", "the arguments must be one JSON object."),
        ('{"file_path": 3}', "`file_path`: expected `str`, got `int`."),
        ('{"file_path": "a", "limit": 0}', "`limit`: expected `int` >= 1."),
    ],
)
def test_bad_arguments_say_what_to_send(memory: Memory, arguments: str, fault: str) -> None:
    with pytest.raises(BadArguments) as caught:
        parsed(memory(), arguments)
    assert str(caught.value) == f"Read: {fault} {SIGNATURE}"


def test_effects(memory: Memory) -> None:
    tool = memory().registry.find("Read")
    assert tool is not None
    assert tool.effects(ReadArgs("../x/./y"), "/p/q") == (Reads("/p/x/y"),)
    assert tool.effects(ReadArgs("//etc/passwd"), "/p") == (Reads("/etc/passwd"),)
