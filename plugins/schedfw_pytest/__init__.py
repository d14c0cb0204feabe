"""For tests of policies: the marker `schedfw_policy`, and a small engine as a fixture.

pytest loads this in every environment that has schedfw, so it imports nothing until it is used.
"""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from schedfw_pytest.small_engine import SmallRun

MARKER = "schedfw_policy"
CHECK = "schedfw_check"


def pytest_configure(config: pytest.Config) -> None:
    """The marker is known, also under `--strict-markers`."""
    config.addinivalue_line(
        "markers",
        f"{MARKER}(policy, ..., examples=100, expected_failures={{check: reason}}): run the test "
        f"once for each of schedfw's checks; its fixture {CHECK} runs the check.",
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test per policy and check."""
    marker = metafunc.definition.get_closest_marker(MARKER)
    if marker is None:
        return
    if CHECK not in metafunc.fixturenames:
        raise pytest.Collector.CollectError(
            f"{metafunc.definition.name} is marked {MARKER} and does not take {CHECK}: write "
            f"def {metafunc.definition.name}({CHECK}): {CHECK}()"
        )
    metafunc.parametrize(CHECK, _checks(*marker.args, **marker.kwargs))


def _checks(*policies: object, expected_failures: Any = None, **options: Any) -> list[Any]:
    from sched_core.testing import parametrize_with_policy_checks

    if not policies:
        raise pytest.Collector.CollectError(f'{MARKER} names no policy: write {MARKER}("mine")')
    try:
        expected = dict.fromkeys(policies, expected_failures) if expected_failures else {}
    except TypeError:  # attrs makes instances that compare by value unhashable
        raise pytest.Collector.CollectError(
            f"{MARKER} with expected_failures takes names and classes, not instances"
        ) from None
    made = parametrize_with_policy_checks(policies, expected_failures=expected, **options)
    return [_alone(*each.values, given=each) for each in made.args[1]]


def _alone(policy: object, check: Callable[[object], None], *, given: Any) -> Any:
    return pytest.param(partial(check, policy), id=given.id, marks=given.marks)


@pytest.fixture
def schedfw_check(request: pytest.FixtureRequest) -> Callable[[], None]:
    """One of the checks of a policy that `schedfw_policy` names; call it."""
    raise pytest.UsageError(f"{request.node.name} takes {CHECK} and is not marked {MARKER}")


@pytest.fixture
def schedfw_run() -> "Callable[..., SmallRun]":
    """Runs requests under a policy on a small engine, one second a step: `small_engine.run`."""
    from schedfw_pytest.small_engine import run

    return run
