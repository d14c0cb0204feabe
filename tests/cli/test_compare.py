"""`schedfw compare`: tables, formats, the same bytes."""

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import schedfw, small

FOUR = "fcfs,priority-aging,sjf,skip-ahead+fewest-computed+adaptive"


COMMAND = [sys.executable, "-c", "from sched_core.cli import main; main()"]


def run_apart(*arguments: str, **environment: str) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run(
        [*COMMAND, *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        timeout=60,
    )


def test_the_bare_command_shows_policies_that_differ() -> None:
    result = schedfw("compare", "--policies", "fcfs,priority")
    assert (result.exit_code, result.stderr) == (0, "")
    rows = {line[:30].strip(): line.split()[-2:] for line in result.stdout.splitlines()}
    for label in ("TTFT p50 (s)", "E2EL mean (s)", "TTFT mean, priority 0 (s)", "preemptions"):
        (fcfs, priority) = next(v for k, v in rows.items() if k.startswith(label))
        assert fcfs != priority, label


def test_the_table_fits_100_columns() -> None:
    lines = small("compare", "--policies", FOUR, "--goodput", "ttft:500").stdout.splitlines()
    assert max(map(len, lines)) <= 100
    text = "\n".join(lines)
    for label in (
        "finished",
        "rejected",
        "unfinished",
        "TTFT p99 (s)",
        "TPOT p50 (ms)",
        "ITL mean",
    ):
        assert label in text
    for label in (
        "goodput (1/s)",
        "SLO attainment (%)",
        "recompute tax (%)",
        "Jain of tenants' speeds",
    ):
        assert label in text
    (heading,) = [line for line in lines if "fcfs " in line and "sjf" in line]
    assert heading.split()[-1] == "+adaptive"


def test_many_policies_take_several_tables() -> None:
    names = "fcfs,priority,sjf,oldest,youngest,largest-kv,fewest-computed,fewest-remaining"
    lines = small("compare", "--policies", names).stdout.splitlines()
    assert max(map(len, lines)) <= 100
    assert sum(line.split()[:1] == ["finished"] for line in lines) == 2
    for name in names.split(","):
        assert any(name in line for line in lines)


def test_an_oracle_is_marked() -> None:
    text = small("compare", "--policies", "sjf+predict-oracle,fcfs").stdout
    assert "+predict-oracle *" in text
    assert "* sees the true output lengths (oracle)" in text
    assert "oracle" not in small("compare", "--policies", "sjf,fcfs").stdout


def test_seeds_add_the_differences_and_what_they_are_worth() -> None:
    text = small("compare", "--policies", "fcfs,priority", "--seeds", 5).stdout
    assert "mean over 5 seeds" in text
    assert "difference to fcfs: mean and 95% interval, paired by seed" in text
    assert "seed        0 to 4" in text
    (line,) = [line for line in text.splitlines()[40:] if "priority 0" in line and "±" in line]
    assert line.split()[-1] == "better"


def test_csv_tells_policy_and_seed() -> None:
    result = small("compare", "--policies", "fcfs,sjf", "--seeds", 2, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    assert len(rows) == 2 * 2 * 60
    assert {(row["policy"], row["seed"]) for row in rows} == {
        (policy, seed) for policy in ("fcfs", "sjf") for seed in "01"
    }


def test_a_run_that_was_cut_off_says_so() -> None:
    text = small("compare", "--policies", "fcfs,sjf", "--horizon", 2).stdout
    assert "ITL pools the gaps of all that got a token" in text


def test_rows_dropped_from_a_trace_are_told(shared: Path) -> None:
    trace = (
        f"azure:path={shared}/data/azure2023/AzureLLMInferenceTrace_conv.first30min.csv:limit=50"
    )
    result = schedfw("compare", "--policies", "fcfs", "--workload", trace)
    assert "10,051 rows beyond the limit" in result.stdout
    assert "50 requests" in result.stdout


def test_the_bar_is_on_a_terminals_stderr_and_stdout_stays_clean() -> None:
    arguments = ["compare", "--policies", "fcfs,sjf", "--workload", "poisson:n=50"]
    terminal, inside = os.openpty()
    done = subprocess.run([*COMMAND, *arguments], stdout=subprocess.PIPE, stderr=inside, timeout=60)
    os.close(inside)
    assert done.returncode == 0
    assert b"2/2" in os.read(terminal, 65536)
    os.close(terminal)
    assert done.stdout == run_apart(*arguments).stdout


def test_same_bytes_in_any_process() -> None:
    arguments = ("compare", "--policies", "fcfs,priority,sjf+predict-noisy,vtc", "--seed", "7")
    options = ("--workload", "poisson:n=200:request_rate=20", "--num-gpu-blocks", "700")
    both = [
        run_apart(*arguments, *options, "--format", "json", PYTHONHASHSEED=seed)
        for seed in ("0", "12345")
    ]
    assert [one.returncode for one in both] == [0, 0]
    assert both[0].stdout == both[1].stdout
    document = json.loads(both[0].stdout)
    assert all(entry["summary"]["preemptions"] for entry in document["policies"])
    other = run_apart(*arguments[:-1], "8", *options, "--format", "json")
    assert other.stdout != both[0].stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ["--policies", "fcfs,fcsf"],
        ["--policies", ""],
        ["--policies", "priority:agin=3"],
        ["--policies", "fcfs", "--workload", "azure:path=none.csv"],
        ["--policies", "fcfs", "--workload", "azure:pth=x"],
        ["--policies", "fcfs", "--hardware", "a100:ec=2x"],
        ["--policies", "fcfs", "--hardware", "constant"],
        ["--policies", "fcfs", "--model", "llama-9"],
        ["--policies", "fcfs", "--goodput", "ttft"],
        ["--policies", "fcfs", "--goodput", "itl:5"],
        ["--policies", "fcfs", "--max-num-seqs", "9", "--max-num-batched-tokens", "8"],
        ["--policies", "fcfs", "--no-enable-chunked-prefill"],
        ["--policies", "fcfs", "--num-gpu-blocks", "1"],
        ["--policies", "fcfs", "--block-size", "x"],
        ["--policies", "fcfs", "--seeds", "0"],
        ["--polices", "fcfs"],
        [],
    ],
)
def test_bad_input_exits_2_with_one_line(arguments: list[str]) -> None:
    result = schedfw("compare", *arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("schedfw: error: ")
    assert result.stderr.count("\n") == 1


def test_batching_modes_side_by_side() -> None:
    workload = "poisson:n=40:request_rate=8:prompt_len=50..2000:output_len=50..500"
    options = ("--workload", workload, "--format", "json")
    modes = ["continuous", "static", "padded"]
    result = schedfw("compare", "--policies", "fcfs", "--batching", ",".join(modes), *options)
    document = json.loads(result.stdout)
    assert [entry["batching"] for entry in document["policies"]] == modes
    assert document["setting"]["batching"] == modes
    continuous, static, padded = (entry["summary"] for entry in document["policies"])
    assert continuous["ttft"]["mean"] < static["ttft"]["mean"] < padded["ttft"]["mean"]
    assert static["tpot"]["mean"] < padded["tpot"]["mean"]
    assert (static["padding_share"], continuous["padding_share"]) == (None, None)
    assert 0 < padded["padding_share"] < 1


def test_an_unknown_batching_mode_is_refused() -> None:
    result = schedfw("compare", "--policies", "fcfs", "--batching", "continuous,statc")
    assert result.exit_code == 2
    assert "did you mean 'static'" in result.stderr


@pytest.mark.parametrize("workload", ["poisson", "poisson:request_rate=5", "poisson:n=1000"])
def test_the_bare_workload_is_the_generators_own(workload: str) -> None:
    """Whoever names a parameter changes that one, and nothing else."""
    bare, named = (
        json.loads(schedfw("run", *given, "--format", "json").stdout)["policies"]
        for given in ((), ("--workload", workload))
    )
    assert bare == named


def test_the_story_of_the_first_example_holds_at_other_rates() -> None:
    def urgent(rate: int) -> list[float]:
        given = ("--workload", f"poisson:request_rate={rate}", "--format", "json")
        document = json.loads(schedfw("compare", "--policies", "fcfs,priority", *given).stdout)
        return [
            entry["summary"]["priorities"]["0"]["ttft"]["mean"] for entry in document["policies"]
        ]

    for rate, least in ((4, 1.1), (5, 10), (6, 10)):
        fcfs, priority = urgent(rate)
        assert fcfs / priority > least
