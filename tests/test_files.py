"""Files as values, and the one error that says why a file is none."""

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from sched_core import InputError, files


def _listed(read: Callable[..., Any]) -> Callable[[Path], Any]:
    return lambda path: list(read(path))


READERS: dict[str, Callable[[Path], Any]] = {
    "json": files.read_json,
    "toml": files.read_toml,
    "lines": _listed(files.read_lines),
    "jsonl": _listed(files.read_json_lines),
    "csv": _listed(files.read_csv),
}

MARK, LINES = b"\xef\xbb\xbf", "\u2028\x85é"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "file"


@pytest.mark.parametrize(
    ("form", "text", "value"),
    [
        ("json", '{"a":\r\n [1.5, null]}', {"a": [1.5, None]}),
        ("toml", 'a = 1\r\n[b]\r\nc = "é"\r\n', {"a": 1, "b": {"c": "é"}}),
        ("lines", f"one\r\n \r\n{LINES}", [(1, "one\r\n"), (3, LINES)]),
        ("jsonl", f'\r\n{{"a": "{LINES}"}}\r\n\n{{}}', [(2, {"a": LINES}), (4, {})]),
        ("csv", 'a,b\r\n\r\n"x\ny", é\r\n', [(1, ["a", "b"]), (4, ["x\ny", " é"])]),
        ("lines", "", []),
        ("jsonl", "", []),
        ("csv", "\n", []),
    ],
)
@pytest.mark.parametrize("mark", [b"", MARK])
def test_a_mark_crlf_and_blank_lines_are_tolerated(
    path: Path, form: str, text: str, value: object, mark: bytes
) -> None:
    path.write_bytes(mark + text.encode())
    assert READERS[form](path) == value


@pytest.mark.parametrize(
    ("form", "content", "problem"),
    [
        ("json", b"{", ": is not JSON: Expecting property name"),
        ("json", b'{"a": {"b": 1, "c": 2, "b": 3}}', ": is not JSON: key 'b' given twice"),
        ("json", b"[" * 100_000, ": is not JSON: "),
        ("json", b"\xff", ": is not JSON: 'utf-8'"),
        ("toml", b"a = ", ": is not TOML: "),
        ("toml", b"\xff", ": is not TOML: 'utf-8'"),
        ("lines", b"\xff", ": is not UTF-8 text: "),
        (
            "jsonl",
            b'{}\n{"a"',
            ", line 2: is not JSON: Expecting ':' delimiter; expected one",
        ),
        ("jsonl", b'\n{"a": 1, "a": 1}', ", line 2: is not JSON: key 'a' given twice; expected"),
        ("jsonl", b"[" * 100_000, ", line 1: is not JSON: "),
        ("jsonl", b"{}\n[]", ", line 2: is no JSON object; expected one whole JSON object on each"),
        ("jsonl", b"{}\n\xff", ": is not UTF-8 text: "),
        ("csv", b'a,b\n1,"2\n', ", line 2: is not CSV: "),
        ("csv", b'a\n"b"c\n', ", line 2: is not CSV: "),
        ("csv", b"a,b\n\xff,1\n", ": is not UTF-8 text: "),
    ],
)
def test_what_has_another_form_is_named(
    path: Path, form: str, content: bytes, problem: str
) -> None:
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        READERS[form](path)
    assert str(caught.value).startswith(f"{path}{problem}")


@pytest.mark.parametrize("form", READERS)
def test_what_is_not_there_or_a_folder_is_named(path: Path, form: str) -> None:
    for place, why in ((path, "No such file or directory"), (path.parent, "Is a directory")):
        with pytest.raises(InputError) as caught:
            READERS[form](place)
        assert str(caught.value) == f"{place}: cannot be read: {why}"


def test_what_is_expected_ends_the_message(path: Path) -> None:
    path.write_text("=")
    for read in (files.read_json, files.read_toml):
        with pytest.raises(InputError, match=r"; expected a scenario$"):
            read(path, expected="a scenario")


def test_exact_numbers_keep_every_digit(path: Path) -> None:
    path.write_text('{"a": 0.10000000000000000001, "b": 2, "c": NaN}')
    ((_, found),) = files.read_json_lines(path, exact=True)
    assert found["a"] == Decimal("0.10000000000000000001")
    assert (found["b"], type(found["b"])) == (2, int)
    assert found["c"].is_nan()


def test_lines_are_read_as_they_are_asked_for(path: Path) -> None:
    path.write_text("{}\n" * 10_000 + "{")
    assert next(files.read_json_lines(path)) == (1, {})
