"""What a shell offers where a name is asked for; nothing that is installed is loaded for it."""

import re

import rich_click as click
from click.shell_completion import CompletionItem
from click.types import StringParamType

from sched_core.catalogue.entries import spellings

_FILES = re.compile(r"^[./~]")


class Named(StringParamType):
    """A text in which names of one kind stand, behind one of the signs that may come before."""

    def __init__(self, kind: str, signs: str = "") -> None:
        self._kind = kind
        self._before = re.compile(f".*[{re.escape(signs)}]") if signs else None

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """The names that go on as what was typed last begins; files where it begins like one."""
        found = self._before.match(incomplete) if self._before else None
        before = found[0] if found else ""
        begun = incomplete[len(before) :]
        if _FILES.match(begun):
            return [CompletionItem(incomplete, type="file")]
        names = [name for name in spellings(self._kind) if name.startswith(begun)]
        return [CompletionItem(before + name) for name in names]


POLICY = Named("policies", "+")
POLICIES = Named("policies", ",+")
HARDWARE = Named("hardware")
WORKLOAD = Named("workloads")
