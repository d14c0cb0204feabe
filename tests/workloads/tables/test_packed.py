"""Files that are packed, and files that can be read once only."""

import gzip
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from sched_core import InputError, Workload
from sched_core.cli import main

from ..conftest import Make, Write

PLAIN = "arrival,prompt_len,output_len\n0,8,1\n0.5,9,2\n"
EXTRA = "pip install 'schedfw[files]'"


def lengths(workload: Workload) -> list[tuple[float, int, int]]:
    return [(r.arrival, r.prompt_len, r.output_len) for r in workload.requests]


EXPECTED = [(0.0, 8, 1), (0.5, 9, 2)]


def zstd() -> Any:
    return pytest.importorskip("backports.zstd", reason=f"no zstd: {EXTRA}")


def pyarrow() -> Any:
    return pytest.importorskip("pyarrow", reason=f"no pyarrow: {EXTRA}")


def test_gzip_is_told_by_its_bytes_whatever_its_name(write: Write, make: Make) -> None:
    for name in ("t.csv.gz", "t.csv"):
        assert lengths(make(f"trace:path={write(name, gzip.compress(PLAIN.encode()))}")) == EXPECTED


def test_zstd_too(write: Write, make: Make) -> None:
    packed = zstd().compress(PLAIN.encode())
    assert lengths(make(f"trace:path={write('t.csv.zst', packed)}")) == EXPECTED


def test_packed_json_and_scenarios_too(write: Write) -> None:
    scenario = '{"requests": [{"id": "a", "arrival": 0, "prompt_len": 8, "output_len": 2}]}'
    path = write("s.json", gzip.compress(scenario.encode()))
    assert schedfw("run", path, "--format", "csv").exit_code == 0


def test_parquet_keeps_numbers_dates_and_gaps(write: Write, make: Make, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason=f"no pyarrow: {EXTRA}")
    times = pyarrow().array([1_700_158_623_979_000_001, 1_700_158_624_479_000_001])
    table = pyarrow().table(
        {
            "arrival": times.cast(pyarrow().timestamp("ns", "UTC")),
            "prompt_len": [8, 9],
            "output_len": [1, 2],
            "tenant": ["a", None],
        }
    )
    parquet.write_table(table, tmp_path / "t.parquet")
    for name in ("trace", "parquet"):
        workload = make(f"{name}:path={tmp_path / 't.parquet'}")
        assert lengths(workload) == EXPECTED
        assert [request.tenant for request in workload.requests] == ["a", "default"]
    empty = pyarrow().array([None, None], pyarrow().float64())
    parquet.write_table(table.set_column(0, "arrival", empty), tmp_path / "t.parquet")
    with pytest.raises(InputError, match=r"t.parquet\[0\], field 'arrival': missing"):
        make(f"parquet:path={tmp_path / 't.parquet'}")


def test_parquet_for_csv_is_named(make: Make, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason=f"no pyarrow: {EXTRA}")
    path = tmp_path / "t.parquet"
    parquet.write_table(
        pyarrow().table({"arrival": [0], "prompt_len": [1], "output_len": [1]}), path
    )
    with pytest.raises(InputError, match="not in the csv format; it looks like parquet"):
        make(f"csv:path={path}")


@pytest.mark.parametrize("module", ["backports.zstd", "pyarrow"])
def test_a_missing_library_is_one_sentence_that_says_what_to_install(
    write: Write, make: Make, monkeypatch: pytest.MonkeyPatch, module: str
) -> None:
    for name in [module, *(n for n in sys.modules if n.startswith(module))]:
        monkeypatch.setitem(sys.modules, name, None)
    if module == "backports.zstd":
        monkeypatch.setattr(sys.modules["backports"], "zstd", None, raising=False)
        monkeypatch.delattr(sys.modules["backports"], "zstd")
    head = b"\x28\xb5\x2f\xfd" if module == "backports.zstd" else b"PAR1"
    with pytest.raises(InputError) as caught:
        make(f"trace:path={write('t', head + bytes(40))}")
    assert f"nothing here {'unpacks' if 'zstd' in module else 'reads'} that" in str(caught.value)
    assert f"; expected {EXTRA}" in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            gzip.compress(PLAIN.encode(), mtime=0)[:-9],
            "t.csv: is damaged: Compressed file ended before",
        ),
        (b"\x1f\x8b" + PLAIN.encode(), "t.csv: is damaged: "),
        (b"PK\x03\x04" + bytes(40), "t.csv: is a zip archive; expected what is in it, plain or as"),
        (gzip.compress(b"\xff\xfe", mtime=0), "t.csv: is not UTF-8 text"),
    ],
)
def test_damaged_and_other_archives_are_refused(
    write: Write, make: Make, content: bytes, message: str
) -> None:
    with pytest.raises(InputError) as caught:
        make(f"csv:path={write('t.csv', content)}")
    assert message in str(caught.value)


def test_damaged_zstd_and_parquet_are_refused(write: Write, make: Make) -> None:
    packed = zstd().compress(PLAIN.encode())
    with pytest.raises(InputError, match=r"t\.csv: is damaged: "):
        make(f"csv:path={write('t.csv', packed[:-6])}")
    pyarrow()
    with pytest.raises(InputError, match="is no whole Parquet file"):
        make(f"trace:path={write('t.csv', b'PAR1' + bytes(40))}")


def schedfw(*arguments: object, stdin: str | bytes | None = None) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments], input=stdin)


@pytest.mark.parametrize("reader", ["csv", "trace"])
def test_the_standard_input_is_a_file_called_so(reader: str) -> None:
    for packed in (PLAIN, gzip.compress(PLAIN.encode())):
        shown = schedfw(
            "workloads", "describe", f"{reader}:path=-", "--format", "json", stdin=packed
        )
        assert '"path": "standard input"' in shown.stdout
        assert '"requests": 2' in shown.stdout


def test_it_is_read_once_for_all_policies_and_seeds() -> None:
    options = ("--policies", "fcfs,sjf", "--seeds", 2, "--num-gpu-blocks", 100)
    result = schedfw(
        "compare", *options, "--hardware", "constant", "--workload", "csv:path=-", stdin=PLAIN
    )
    assert result.exit_code == 0, result.stderr


def test_an_error_in_it_is_named_so() -> None:
    result = schedfw("workloads", "describe", "csv:path=-", stdin=PLAIN + "x,1,1\n")
    assert result.exit_code == 2
    assert "standard input, line 4, field 'arrival': cannot be used (found 'x')" in result.stderr


def test_processes_that_would_each_read_it_are_refused() -> None:
    options = ("--policies", "fcfs,sjf", "--jobs", 2, "--workload", "csv:path=-")
    result = schedfw("compare", *options, stdin=PLAIN)
    assert result.exit_code == 2
    assert "standard input, field 'jobs': can be read once" in result.stderr


def test_a_closed_standard_input_is_one_sentence(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(InputError, match="standard input: is closed"):
        make("csv:path=-")


def test_a_pipe_is_read_once_and_kept(make: Make, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=(PLAIN,))
    writer.start()
    assert lengths(make(f"trace:path={pipe}")) == EXPECTED  # which looks first, and reads then
    writer.join()
    assert lengths(make(f"csv:path={pipe}")) == EXPECTED


@pytest.mark.parametrize("path", ["-", "/dev/stdin"])
def test_so_is_the_output_of_another_program(path: str) -> None:
    code = "import sys; from sched_core.cli import main; main(sys.argv[1:])"
    command = [sys.executable, "-c", code, "workloads", "describe", f"trace:path={path}"]
    done = subprocess.run(command, input=PLAIN, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "requests               2" in done.stdout
