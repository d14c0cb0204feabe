"""What comes of a run: one JSON file, whole after every check, and tables."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from gpu_check.check import Check, Outcome
from gpu_check.process import Answer
from sched_core.cli.output import print_table
from sched_core.cli.whole_file import whole_file

SCHEMA = 1


class Report:
    """The file at `path`. It says that it is unfinished until `finish` is called."""

    def __init__(self, path: Path, machine: Mapping[str, Any], *, quick: bool) -> None:
        self.path = path
        self.checks: dict[str, dict[str, Any]] = {}
        self._head = {"schema": SCHEMA, "machine": machine, "quick": quick}
        self._write(finished=False)

    def add(self, check: Check, answer: Answer, seconds: float) -> None:
        """Note a check that was run, and what it took."""
        outcome: Outcome = answer.value or Outcome({}, [answer.reason])
        self._note(check, "FAIL" if outcome.wrong else "pass", seconds, outcome, answer.trace)

    def skip(self, check: Check, reason: str) -> None:
        """Note a check that was not run."""
        self._note(check, "skipped", 0.0, Outcome({}, left_out=[reason]))

    def _note(
        self, check: Check, result: str, seconds: float, outcome: Outcome, trace: str = ""
    ) -> None:
        self.checks[check.name] = {
            "about": check.about,
            "result": result,
            "seconds": round(seconds, 1),
            "wrong": list(outcome.wrong),
            "left_out": list(outcome.left_out),
            "figures": dict(outcome.figures),
            "trace": trace,
        }
        self._write(finished=False)

    def finish(self) -> None:
        """Say that no check follows."""
        self._write(finished=True)

    @property
    def failed(self) -> bool:
        return any(row["result"] == "FAIL" for row in self.checks.values())

    def _write(self, *, finished: bool) -> None:
        document = {**self._head, "finished": finished, "checks": self.checks}
        text = json.dumps(_finite(document), indent=1, allow_nan=False)
        with whole_file(self.path) as file:
            file.write(text + "\n")

    def print(self) -> None:
        """A line per check, what is wrong and left out, and the figures that are tables."""
        print_table(
            ["check", "result", "seconds", ""],
            [
                (name, row["result"], f"{row['seconds']:.0f}", row["about"])
                for name, row in self.checks.items()
            ],
        )
        print_table(["check", "", ""], list(_notes(self.checks)))
        for name, row in self.checks.items():
            for key, rows in row["figures"].items():
                if isinstance(rows, list):
                    _print_rows(f"{name}: {key}", rows)


def _notes(checks: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, str, str]]:
    for name, row in checks.items():
        yield from ((name, "wrong", text) for text in row["wrong"])
        yield from ((name, "left out", text) for text in row["left_out"])


def _print_rows(title: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Rows as a table, without columns that hold more than a value."""
    columns = [key for key, value in rows[0].items() if not isinstance(value, list | dict)]
    print_table([title], [])
    print_table(columns, [[row[key] for key in columns] for row in rows])


def _finite(value: Any) -> Any:
    """The same, with None for numbers that JSON does not have."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    return [_finite(item) for item in value] if isinstance(value, list | tuple) else value
