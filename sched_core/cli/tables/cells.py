"""Figures and differences as the texts of a table's cells."""

from rich.text import Text

from sched_core.reports.differences import Difference
from sched_core.reports.figures import Figure

NOTHING = "-"
"""The cell of a figure that is not defined."""

COLOURS = {"better": "green", "worse": "red", None: "dim"}

TIMES = 10
"""From this many times the first policy's on, a difference is told as a multiple."""


def label(figure: Figure) -> str:
    """What a row begins with."""
    return f"{figure.label} ({figure.unit})" if figure.unit else figure.label


def value(figure: Figure, found: float | None, *, mean: bool = False) -> str:
    """A figure in its unit; a `mean` of counts is no count, and gets a decimal."""
    if found is None:
        return NOTHING
    return f"{found * figure.scale:,.{figure.decimals or int(mean)}f}"


def with_unit(figure: Figure, found: float | None, *, mean: bool = False) -> str:
    """The same with its name before it, for a figure within a line."""
    return f"{figure.label} {value(figure, found, mean=mean)} {figure.unit}".rstrip()


def difference(found: Difference, *, paired: bool) -> Text:
    """By how much, with sign and colour; `paired` by seed the interval and the verdict too.

    Relative to the first policy; in points where the figure is a share already, and in the
    figure's own unit where the first policy has 0.
    """
    if found.mean is None or (not found.mean and not paired):
        return Text("")
    if not paired:
        return Text(_change(found, found.mean), COLOURS[found.direction])
    half = None if found.high is None else found.high - found.mean
    text = _change(found, found.mean) + ("" if half is None else f" ±{_size(found, half)}")
    return Text(f"{text} {found.verdict or ''}".rstrip(), COLOURS[found.verdict])


def _change(found: Difference, mean: float) -> str:
    if found.relative is not None and found.relative + 1 >= TIMES and found.figure.unit != "%":
        return f"x{found.relative + 1:.0f}"
    return f"{'-' if mean < 0 else '+'}{_size(found, abs(mean))}"


def _size(found: Difference, size: float) -> str:
    """Without a sign."""
    if found.figure.unit == "%":
        return f"{size * found.figure.scale:.2f} pt"
    if found.relative is None or found.mean is None:
        return value(found.figure, size, mean=bool(size % 1))
    share = abs(size * found.relative / found.mean) if found.mean else 0.0
    return f"{share:.0%}" if share >= 0.0995 else f"{share:.1%}"
