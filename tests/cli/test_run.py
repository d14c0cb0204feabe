"""`schedfw run`: scenarios, decisions, formats."""

import csv
import io
import json
from pathlib import Path

import pytest
from command_line import schedfw, small
from golden import GOLDEN, golden_lines, ordered


@pytest.mark.parametrize("name", ["course", "014-prio", "018-prefix_prio", "033-nochunk"])
def test_decisions_of_a_golden_scenario_equal_vllms(tmp_path: Path, name: str) -> None:
    out = tmp_path / "out.jsonl"
    assert schedfw("run", GOLDEN / f"{name}.json", "--decisions", out).exit_code == 0
    ours = [json.loads(line) for line in out.read_text().splitlines()]
    expected = golden_lines(name)
    assert [ordered(line) for line in ours] == [ordered(line) for line in expected]
    assert [line["time"] for line in ours] == [line["step"] for line in expected]


def test_table_and_setting() -> None:
    result = schedfw("run", GOLDEN / "course.json", "--all", "-v")
    assert result.exit_code == 0
    lines = [line.split() for line in result.stdout.splitlines()]
    assert ["finished", "5"] in lines
    assert ["preemptions", "3"] in lines
    assert ["hardware", "constant:step=1", "(constant)"] in lines
    assert ["block", "pool", "6", "blocks", "of", "16", "tokens;", "host", "0"] in lines
    assert result.stderr == ""


def test_csv_is_one_row_per_request() -> None:
    result = schedfw("run", GOLDEN / "course.json", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    assert [row["id"] for row in rows] == ["R1", "R2", "R3", "R4", "R5"]
    assert {row["policy"] for row in rows} == {"fcfs"}
    assert rows[0]["reason"] == ""
    assert float(rows[0]["e2el"]) == 33.0


def test_options_override_the_file() -> None:
    changed = ("--policy", "sjf", "--num-gpu-blocks", 60, "--hardware", "constant:step=0.5")
    result = schedfw("run", GOLDEN / "course.json", *changed, "--format", "json")
    document = json.loads(result.stdout)
    assert document["policies"][0]["policy"] == "sjf"
    assert document["policies"][0]["summary"]["preemptions"] == 0
    assert document["setting"]["config"]["num_gpu_blocks"] == 60
    assert document["setting"]["config"]["max_num_batched_tokens"] == 8, "from the file"
    assert document["setting"]["hardware"]["step"] == 0.5


def test_a_run_needs_no_file() -> None:
    document = json.loads(
        small("run", "--goodput", "ttft:500", "--goodput", "tpot:50", "--format", "json").stdout
    )
    assert document["setting"]["goodput"] == {"ttft": 500.0, "tpot": 50.0}
    assert document["policies"][0]["summary"]["request_goodput"] is not None


def test_output_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    out, decisions = tmp_path / "out.json", tmp_path / "decisions.jsonl"
    result = small("run", "--format", "json", "-o", out)
    assert (result.exit_code, result.stdout) == (0, "")
    assert json.loads(out.read_text())["schema"] == 1
    before = out.read_bytes()
    failed = small("run", "--policy", "nope", "-o", out, "--decisions", decisions)
    assert failed.exit_code == 2
    assert out.read_bytes() == before
    assert list(tmp_path.iterdir()) == [out], "no decisions, no leftovers"


def test_a_place_that_cannot_be_written_is_found_before_the_run(tmp_path: Path) -> None:
    for option in ("--output", "--decisions"):
        result = small("run", option, tmp_path / "none" / "out")
        assert result.exit_code == 2
        assert "cannot be written: No such file" in result.stderr


def test_what_is_no_regular_file_is_not_replaced() -> None:
    assert small("run", "-o", "/dev/null").exit_code == 0
    assert Path("/dev/null").is_char_device()
