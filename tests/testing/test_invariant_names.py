"""Every invariant of the reference is a check with its name, or a test that is named here."""

import re
from pathlib import Path

import pytest

from sched_core.testing.checks import CHECKS
from sched_core.testing.invariants.registry import FILED

ELSEWHERE = {
    "D4": "testing/test_key_times.py",
    "E7": "testing/test_key_times.py",
    "E8": "catalogue/test_nonsense.py",
    "H3": "testing/test_invariants.py",
    "H4": "catalogue/test_broken.py",
    "I1": "torch_executor/test_tokens.py",
    "I2": "torch_executor/test_faults.py",
    "I3": "torch_executor/test_faults.py",
    "J1": "hwmodels/test_roofline.py",
    "J2": "hwmodels/test_roofline.py",
}


def test_every_invariant_of_the_reference_is_checked(shared: Path) -> None:
    text = (shared / "reference" / "invariants.md").read_text("utf-8")
    wanted = set(re.findall(r"^- ([A-J]\d) ", text, flags=re.MULTILINE))
    assert len(wanted) > 50
    named = {name.split()[0] for name in (*FILED, *CHECKS)}
    assert wanted == named | set(ELSEWHERE)
    assert not named & set(ELSEWHERE)


@pytest.mark.parametrize("file", sorted(set(ELSEWHERE.values())))
def test_the_others_are_where_they_are_said_to_be(file: str) -> None:
    assert (Path(__file__).parent.parent / file).is_file()
