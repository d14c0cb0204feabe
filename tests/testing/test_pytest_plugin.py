"""The pytest plugin for authors: inert until used, then one test per check."""

import subprocess
import sys

import pytest

from sched_core.testing.checks import CHECKS

COUNT = len(CHECKS)

POLICY = """
import attrs
import pytest
from sched_core import hookimpl


@attrs.define
class Mine:
    sign: int = 1

    @hookimpl
    def effective_priority(self, request):
        return self.sign * request.prompt_len


@attrs.define
class Refuses:
    @hookimpl
    def can_admit(self, request):
        return request.tenant != "b"
"""


def outcomes(pytester: pytest.Pytester, test: str, *options: str) -> pytest.RunResult:
    pytester.makepyfile(POLICY + test)
    return pytester.runpytest_inprocess("--strict-markers", *options)


def test_a_marked_test_runs_every_check(pytester: pytest.Pytester) -> None:
    result = outcomes(
        pytester,
        """
@pytest.mark.schedfw_policy(Mine, "fcfs", Mine(sign=-1), examples=1)
def test_mine(schedfw_check):
    schedfw_check()
""",
    )
    skipped = 3 + 2 + 1  # nobody yields; two keys are always asked; an instance stays here
    result.assert_outcomes(passed=3 * COUNT - skipped, skipped=skipped)


def test_what_fails_is_shown_or_expected(pytester: pytest.Pytester) -> None:
    test = """
@pytest.mark.schedfw_policy(Refuses, examples=10{more})
def test_mine(schedfw_check):
    schedfw_check()
"""
    result = outcomes(pytester, test.format(more=""))
    result.assert_outcomes(passed=COUNT - 3, skipped=2, failed=1)
    result.stdout.fnmatch_lines(["*CheckFailed: policy 'Refuses' fails 1 of its checks*"])
    result.stdout.fnmatch_lines(["*test_mine?Refuses-E6 everyone ends?*"])
    more = ", expected_failures={'E6 everyone ends': 'tenant b waits'}"
    result = outcomes(pytester, test.format(more=more))
    result.assert_outcomes(passed=COUNT - 3, skipped=2, xfailed=1)


@pytest.mark.parametrize(
    ("test", "message"),
    [
        ('@pytest.mark.schedfw_policy("fcfs")\ndef test_x(): ...', "*does not take schedfw_check*"),
        ("@pytest.mark.schedfw_policy\ndef test_x(schedfw_check): ...", "*names no policy*"),
        ("def test_x(schedfw_check): ...", "*is not marked schedfw_policy*"),
        (
            '@pytest.mark.schedfw_policy("fcfs", expected_failures={"E6 everybody ends": "x"})\n'
            "def test_x(schedfw_check): ...",
            "*unknown check 'E6 everybody ends'; did you mean 'E6 everyone ends'*",
        ),
        (
            '@pytest.mark.schedfw_policy(Mine(), expected_failures={"E6 everyone ends": "x"})\n'
            "def test_x(schedfw_check): ...",
            "*takes names and classes, not instances*",
        ),
    ],
)
def test_misuse_is_one_sentence(pytester: pytest.Pytester, test: str, message: str) -> None:
    result = outcomes(pytester, test)
    assert result.parseoutcomes().get("errors", result.parseoutcomes().get("error")) == 1
    result.stdout.fnmatch_lines([message])


def test_an_unknown_policy_fails_its_tests(pytester: pytest.Pytester) -> None:
    test = '@pytest.mark.schedfw_policy("fcsf")\ndef test_x(schedfw_check): schedfw_check()'
    result = outcomes(pytester, test, "--tb=line")
    result.assert_outcomes(failed=COUNT)
    result.stdout.fnmatch_lines(["*did you mean 'fcfs'*"])


def test_a_small_engine(pytester: pytest.Pytester) -> None:
    result = outcomes(
        pytester,
        """
ROWS = [{"id": "long", "arrival": 0, "prompt_len": 40, "output_len": 2},
        {"id": "short", "arrival": 0, "prompt_len": 20, "output_len": 2}]


@pytest.mark.parametrize("policy", [Mine, Mine(), ("adaptive", Mine), Mine(sign=1)])
def test_shortest_first(schedfw_run, policy):
    run = schedfw_run(policy, ROWS, max_num_seqs=1)
    assert run.steps == [{"short": 20}, {"short": 1}, {"long": 40}, {"long": 1}]
    assert run.requests["short"]["finish"] == 2.0
    assert run.summary["finished"] == 2


def test_a_bad_answer_is_raised(schedfw_run):
    from sched_core import NoProgress
    with pytest.raises(NoProgress):
        schedfw_run(Refuses, [{**ROWS[0], "tenant": "b"}])
""",
    )
    result.assert_outcomes(passed=5)


def test_it_is_listed(pytester: pytest.Pytester) -> None:
    result = pytester.runpytest_inprocess("--markers")
    result.stdout.fnmatch_lines(["@pytest.mark.schedfw_policy(policy, ..., examples=100*"])
    result = pytester.runpytest_inprocess("--fixtures")
    result.stdout.fnmatch_lines(["schedfw_check*", "schedfw_run*"])


def test_nothing_is_imported_until_it_is_used(pytester: pytest.Pytester) -> None:
    """Also where other tests run in the same environment."""
    pytester.makepyfile("def test_x(): ...")
    code = (
        "import sys, pytest\n"
        "assert pytest.main(['-q', '-p', 'no:hypothesispytest']) == 0\n"
        "print([name for name in ('schedfw_pytest', 'sched_core', 'hypothesis', 'numpy')"
        " if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines()[-1] == "['schedfw_pytest']"
