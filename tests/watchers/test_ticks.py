"""`schedfw run --ticks`: a run to be read step by step."""

from pathlib import Path

import pytest
from command_line import schedfw
from harness import aborting, requests, serve

from sched_core.cli import main
from sched_core.watchers.ticks import Ticks

FIVE = Path(__file__).parent.parent.parent / "examples" / "five-requests.json"


def ticks_of(text: str, policy: str = "fcfs", **settings: int) -> Ticks:
    seen = Ticks()
    serve(text, policy, watcher=seen, **settings)
    return seen


def test_the_chapters_five_requests() -> None:
    seen = ticks_of(
        "R1(16,32,@0) R2(8,8,@0) R3(32,16,@0) R4(8,64,@0) R5(16,8,@0)",
        max_num_batched_tokens=8,
        num_gpu_blocks=6,
    )
    tenth = seen.ticks[9]
    assert tenth.cells == {"R1": "d", "R2": "d", "R3": "d", "R4": "x", "R5": "w"}
    assert tenth.events == ["R4 out for R3: default, recompute"]
    assert (tenth.budget_left, tenth.free_blocks) == (5, 0)
    assert seen.ticks[8].cells["R4"] == "+p4"
    assert seen.ticks[10].cells["R2"] == "d*"


def test_who_decided() -> None:
    seen = ticks_of(
        "R0(32,32,@0) R1(32,32,@0)",
        "fcfs+fewest-computed+swap",
        num_gpu_blocks=6,
        num_cpu_blocks=3,
    )
    assert seen.ticks[17].cells == {"R0": "d", "R1": "x"}
    assert seen.ticks[18].cells["R1"] == "s"
    assert seen.ticks[17].events == ["R1 out for R0: fewest-computed, swap (swap)"]


def test_rejections_stalls_and_admissions_are_told() -> None:
    seen = ticks_of(
        "BIG(500,4,@0) A(96,20,@0) B(80,4,@1) S(16,1,@2)", "skip-ahead", num_gpu_blocks=10
    )
    assert seen.ticks[0].events[0] == "BIG rejected: needs 32 KV blocks > the pool's 10"
    assert seen.ticks[2].events == ["S in: skip-ahead"]
    assert seen.ticks[2].cells == {"A": "d", "B": "w", "S": "+p16*"}


@pytest.mark.parametrize("policy", ["fcfs", "sjf+predict-oracle"])
def test_the_table_fits_and_explains_itself(
    policy: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["run", str(FIVE), "--policy", policy, "--ticks"])
    assert ended.value.code in (0, None)
    printed = capsys.readouterr().out
    assert max(map(len, printed.splitlines())) <= 100
    assert "lost its place" in printed
    assert "+p8" in printed


def test_many_requests_share_a_cell(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert len(requests(" ".join(f"r{i}(4,2,@0)" for i in range(12)))) == 12
    with pytest.raises(SystemExit):
        main(["run", "--workload", "poisson:n=12", "--ticks"])
    assert "r0:+p" in capsys.readouterr().out


def test_a_table_is_not_json(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["run", str(FIVE), "--ticks", "--format", "json"])
    assert ended.value.code == 2
    assert "--decisions FILE" in capsys.readouterr().err


def test_an_abort_leaves_the_table() -> None:
    seen = Ticks()
    serve(aborting("A(4,40,@0) B(4,6,@0)", A=2.0), watcher=seen)
    assert seen.ticks[2].cells == {"B": "d"}


def ticks(*options: str) -> list[list[str]]:
    result = schedfw("run", FIVE, "--ticks", *options)
    assert result.exit_code == 0, result.stderr
    table = result.stdout.partition("\np8 prefills")[0]
    return [line.split() for line in table.splitlines()[1:]]


def test_a_range_of_steps() -> None:
    assert [row[0] for row in ticks("--steps", "8..11")] == ["8", "9", "10", "11"]


def test_one_request_and_what_is_alike_is_one_line() -> None:
    rows = ticks("--only", "R5", "--steps", "..9")
    assert [row[0] for row in rows] == ["0", "9"]
    assert rows[0][4:] == ["w", "9", "steps", "alike,", "to", "8"]
    assert rows[1][4:8] == ["w", "R4", "out", "for"], "what happened is told of everyone"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--ticks", "--steps", "5"], "field '--steps': no range (found '5'); expected FROM..TO"),
        (["--ticks", "--only", "R9"], "--only: unknown request 'R9' (known: R1, R2, R3, R4, R5)"),
        (["--only", "R1"], "--steps and --only say which --ticks to print"),
    ],
)
def test_a_choice_that_means_nothing_is_refused(options: list[str], message: str) -> None:
    result = schedfw("run", FIVE, *options)
    assert result.exit_code == 2
    assert message in result.stderr
