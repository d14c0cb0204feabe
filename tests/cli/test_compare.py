"""`schedfw compare`: tables, formats, the same bytes."""

import csv
import io
import json
import os
import subprocess
import sys
from importlib.metadata import version
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


FIRST_SCREEN = """\
workload  poisson: 1,000 requests
hardware  a100, model llama-3.1-8b
engine    max_num_batched_tokens=2048 max_num_seqs=256 num_gpu_blocks=29106
run       schedfw VERSION, seed 0
load      offered 4.7/s, served 3.9/s: overloaded; the queue grew from 3 to 73

                              fcfs   priority
────────────────────────────────────────────────────────
TTFT mean (s)                7.632      7.727      +1.2%
TTFT p99 (s)                19.822     37.818       +91%
TTFT p99, priority 0 (s)    19.078      1.095       -94%
TTFT p99, priority 1 (s)    19.835      2.520       -87%
TTFT p99, priority 2 (s)    19.837     37.969       +91%
TPOT mean (ms)               94.01      95.06      +1.1%
E2EL mean (s)               57.500     58.157      +1.1%
E2EL p99 (s)               114.917    116.410      +1.3%
output tokens (1/s)        2,093.2    2,079.1      -0.7%
recompute tax (%)             4.67       5.37   +0.70 pt
the same: finished 1,000, ITL p99 188.51 ms
--all shows 47 more figures; --seeds 5 tells effects from noise
"""


def test_the_first_screen_tells_the_story() -> None:
    result = schedfw("compare", "--policies", "fcfs,priority")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == FIRST_SCREEN.replace("VERSION", version("schedfw"))
    assert len(result.stdout.splitlines()) <= 24
    assert max(map(len, result.stdout.splitlines())) <= 80


def test_all_rows_are_there_for_the_asking(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    text = small("compare", "--policies", FOUR, "--goodput", "ttft:500", "--all").stdout
    for label in ("rejected", "TPOT p50 (ms)", "ITL p90 (ms)", "goodput (1/s)", "KV use mean (%)"):
        assert label in text
    assert "Jain of tenants' speeds" in text
    assert "Jain" not in small("compare", "--policies", FOUR).stdout, "not on the first screen"


def test_chosen_rows_and_no_others() -> None:
    names = "ttft.p99, priorities.0.tpot.p99"
    text = small("compare", "--policies", "fcfs,sjf", "--figures", names).stdout
    rows = text.split("─\n")[1].splitlines()
    assert [row.split("(")[0].strip() for row in rows] == ["TTFT p99", "TPOT p99, priority 0"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--figures", "ttft.p98"], "'--figures': unknown figure; did you mean 'ttft.p99'?"),
        (["--figures", "ttft.p99", "--format", "json"], "--figures is for tables"),
        (["--all", "--format", "csv"], "--all is for tables"),
        (["--smallest-effect", "-1"], "'--smallest-effect': out of range (found -1.0)"),
        (["--warmup", "-1"], "field 'warmup': out of range (found -1.0)"),
    ],
)
def test_what_cannot_be_shown_is_refused_before_anything_runs(
    options: list[str], message: str
) -> None:
    result = small("compare", "--policies", "fcfs,sjf", *options)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr


def test_the_whole_setting_is_there_for_the_asking() -> None:
    text = small("compare", "--policies", "fcfs", "-v").stdout
    assert "block pool  700 blocks of 16 tokens; host 0" in text
    assert "gpu_memory_utilization=0.9" in text


def test_what_is_not_as_usual_is_always_told() -> None:
    options = ("--enable-prefix-caching", "--block-size", 32, "--warmup", 1, "--drain")
    text = small("compare", "--policies", "fcfs", "--goodput", "ttft:500@0", *options).stdout
    text = " ".join(text.split())
    assert "block_size=32 enable_prefix_caching=true" in text
    assert "goodput ttft@0 <= 500 ms" in text
    assert "window without the first 1 s, without what is behind the last arrival" in text


def test_policies_add_up_and_blanks_do_not_matter() -> None:
    together = small("compare", "--policies", "fcfs,sjf", "--format", "csv").stdout
    assert small("compare", "--policies", "fcfs, sjf", "--format", "csv").stdout == together
    apart = small("compare", "--policies", "fcfs", "--policies", "sjf", "--format", "csv")
    assert apart.stdout == together


def test_no_terminal_no_padding_and_one_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    names = "fcfs,priority,sjf,oldest,youngest,largest-kv,fewest-computed,fewest-remaining"
    lines = small("compare", "--policies", names, "--all").stdout.splitlines()
    assert [line for line in lines if line != line.rstrip()] == []
    (heading,) = [line.split() for line in lines if "fcfs" in line.split()]
    assert heading == names.split(",")


def test_columns_are_honoured_with_a_row_for_each_policy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    names = "fcfs,priority,sjf,oldest,youngest,largest-kv,fewest-computed,fewest-remaining"
    lines = small("compare", "--policies", names).stdout.splitlines()
    assert max(map(len, lines)) <= 80
    firsts = [line.split()[0] for line in lines if line.strip()]
    assert [name for name in names.split(",") if name not in firsts] == []


def test_an_oracle_is_marked() -> None:
    text = small("compare", "--policies", "sjf+predict-oracle,fcfs").stdout
    assert "+predict-oracle *" in text
    assert "* sees the true output lengths (oracle)" in text
    assert "oracle" not in small("compare", "--policies", "sjf,fcfs").stdout


def test_seeds_add_the_differences_and_what_they_are_worth() -> None:
    options = ("--seeds", 5, "--figures", "priorities.0.ttft.mean,swapped_bytes")
    text = small("compare", "--policies", "fcfs,priority", *options).stdout
    assert "means over 5 seeds; differences to fcfs with 95% intervals, paired by seed" in text
    assert "seed 0 to 4" in text
    (line,) = [line for line in text.splitlines() if "priority 0" in line]
    assert "±" in line
    assert line.split()[-1] == "better"


def test_no_verdict_below_the_smallest_effect() -> None:
    options = ("--seeds", 5, "--figures", "priorities.0.ttft.mean", "--smallest-effect", 100)
    assert "better" not in small("compare", "--policies", "fcfs,priority", *options).stdout


def test_csv_has_a_column_for_each_thing_that_varies() -> None:
    modes = ("--batching", "continuous,static", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(small("compare", "--policies", "fcfs", *modes).stdout)))
    assert {row["batching"] for row in rows} == {"continuous", "static"}


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
    assert "10,051 rows beyond the limit" in " ".join(result.stdout.split())
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
