"""`schedfw hardware`: its four commands, for people and for programs."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from installed import Site

from hwmodels.roofline.gpus import A100, GPUS
from sched_core import InputError, UsageError
from sched_core.calibration.measured_steps import step_load
from sched_core.cli.hardware import hardware


def run(*arguments: str) -> str:
    runner = CliRunner(env={"COLUMNS": "100"})
    result = runner.invoke(hardware, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "steps.csv"
    price = A100().executor("llama-2-7b", block_size=16).costs.step
    rows = ["model,kind,tokens,batch,kv_len,measured_ms"]
    for batch in (1, 8, 64):
        seconds = price(step_load("decode", tokens=batch, batch=batch, kv_len=512))
        rows.append(f"M,decode,{batch},{batch},512,{1250 * seconds!r}")
    path.write_text("\n".join(rows) + "\n")
    return str(path)


def test_list_shows_each_with_its_origin() -> None:
    entries = {entry["name"]: entry for entry in json.loads(run("list", "--format", "json"))}
    assert entries["a100"]["memory"] == 80 * 2**30
    assert entries["a100"]["efficiencies"].startswith("fitted on this GPU")
    assert entries["h100"]["efficiencies"].startswith("carried over")
    assert entries["constant"]["memory"] is None
    assert entries["a100"]["distribution"] == "schedfw"
    table = run("list")
    assert "not measured on this GPU" in table
    assert max(map(len, table.splitlines())) <= 100
    assert run("list", "--format", "csv").startswith("name,distribution,version")


FUSSY = """
import attrs

@attrs.frozen
class Fussy:
    '''Loads, and cannot be made.'''

    def __attrs_post_init__(self):
        raise OSError("no such driver")
"""


@pytest.mark.parametrize(
    ("value", "reason"),
    [("no_such_module:Thing", "No module named"), ("lab:Fussy", "no such driver")],
)
def test_list_shows_what_cannot_be_used(site: Site, value: str, reason: str) -> None:
    site.install("lab", FUSSY, {}, hardware={"broken": value})
    rows = json.loads(run("list", "--format", "json"))
    (entry,) = [row for row in rows if row["name"] == "broken"]
    assert reason in entry["problem"]
    assert f"cannot be used: {entry['problem']}" in " ".join(run("list").split())


def test_show_tells_constants_sources_and_prices() -> None:
    shown = json.loads(run("show", "a100:ec=0.8", "--model", "llama-3-8b", "--format", "json"))
    assert shown["ec"] == 0.8
    assert shown["overridden"] == ["ec"]
    assert "data sheet" in shown["source"]
    assert shown["capacity"]["num_gpu_blocks"] > 25_000
    assert shown["milliseconds"]["prompt of 2048 tokens"] > 100
    table = run("show", "a100", "--model", "llama-3-8b")
    assert "share of peak_flops that matrix products reach" in table
    assert max(map(len, table.splitlines())) <= 100


def test_show_works_for_hardware_without_a_model() -> None:
    assert "seconds per step" in run("show", "constant:step=1")


def test_validate_prints_the_errors_per_kind(file: str) -> None:
    arguments = ("validate", "a100", "--model", "llama-2-7b", "--against", file)
    *_, overall = json.loads(run(*arguments, "--format", "json"))["kinds"]
    assert overall == {
        "kind": "all", "rows": 3, "error": pytest.approx(0.2), "bias": pytest.approx(-0.2),
        "worst": pytest.approx(-0.2),
    }  # fmt: skip
    assert "-20.00%" in run(*arguments)
    assert run(*arguments, "--format", "csv").splitlines()[0] == "kind,rows,error,bias,worst"


def test_calibrate_prints_constants_that_fit_better(file: str) -> None:
    arguments = ("calibrate", "a100", "--model", "llama-2-7b", "--against", file)
    found = json.loads(run(*arguments, "--format", "json"))
    assert found["fitted"][-1]["error"] < 0.05
    assert found["left_out"][-1]["rows"] == 3
    spec = "a100:" + ":".join(f"{key}={value}" for key, value in found["constants"].items())
    again = run("validate", spec, *arguments[2:], "--format", "json")
    assert json.loads(again)["kinds"] == found["fitted"]
    assert "left out" in run(*arguments)
    assert run(*arguments, "--format", "csv").startswith("constant,value\nec,")


def test_hardware_without_a_fit_says_so(file: str) -> None:
    with pytest.raises(UsageError, match="'constant' has no constants"):
        run("calibrate", "constant", "--model", "llama-2-7b", "--against", file)


def test_a_model_that_does_not_fit_stops_show() -> None:
    with pytest.raises(InputError, match="does not fit"):
        run("show", "l4", "--model", "llama-2-70b")


def test_show_has_the_recorded_errors_of_the_fit() -> None:
    shown = json.loads(run("show", "a100", "--format", "json"))
    assert "microsoft/vidur" in shown["fitted_to"]
    assert [row["kind"] for row in shown["fit_errors"]][-1] == "all"
    assert "fit_errors.all.rows,60" in run("show", "a100", "--format", "csv")
    assert "all           60  0.0277" in run("show", "a100")


@pytest.mark.parametrize("spec", ["a100:ec=0.8", "h100"])
def test_what_the_record_does_not_hold_for_does_not_show_it(spec: str) -> None:
    assert "fit_errors" not in json.loads(run("show", spec, "--format", "json"))


def test_the_recorded_errors_are_those_of_the_table(shared: Path) -> None:
    record = GPUS["a100"]["fitted_to"]
    table = shared / "data" / "a100" / "llama3_8b_steps.csv"
    arguments = ("validate", "a100", "--model", record["model"], "--against", str(table))
    kinds = json.loads(run(*arguments, "--format", "json"))["kinds"]
    rounded = [
        {key: round(value, 4) if isinstance(value, float) else value for key, value in row.items()}
        for row in kinds
    ]
    assert rounded == record["errors"]


def test_results_do_not_carry_the_record() -> None:
    assert "fit_errors" not in A100().executor("llama-3-8b", block_size=16).describe()


def test_a_table_that_is_not_there_is_one_sentence_with_its_source(tmp_path: Path) -> None:
    for command in ("validate", "calibrate"):
        with pytest.raises(InputError) as caught:
            run(command, "a100", "--model", "llama-3-8b", "--against", str(tmp_path / "no.csv"))
        assert str(caught.value).startswith(f"{tmp_path / 'no.csv'}: cannot be read: No such file")
        assert "`schedfw hardware show a100` names with its errors" in str(caught.value)
