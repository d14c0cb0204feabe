"""The policy under check: how to build it afresh, and how to name it elsewhere."""

import pkgutil
import sys
from collections.abc import Callable, Sequence
from types import ModuleType

import attrs

from sched_core.catalogue import specs
from sched_core.policy.stack import Policy


@attrs.frozen
class PolicyUnderTest:
    """A stack of components, built anew for every run."""

    name: str
    """A spec string, or the name of a class."""
    spec: str | None
    """What a scenario file calls it; None for a class."""
    factory: str | None
    """`module:class`; None for a spec string, and for what another process could not import."""
    _parts: Sequence[tuple[str, Callable[[], object]]] = attrs.field(repr=False)

    @classmethod
    def of(cls, policy: object) -> "PolicyUnderTest":
        """From a spec string, a class, an instance, a tuple of such, or a function that builds a
        component.

        Raises UsageError for an unknown name, and for a component that does not keep the contract.
        """
        if isinstance(policy, str):
            under_test = cls(policy, policy, None, specs.stack(policy))
        elif not callable(policy):
            given = specs.policy_spec(policy)
            under_test = cls(specs.shown_stack(given), None, None, specs.stack(given))
        else:
            name = getattr(policy, "__name__", str(policy))
            under_test = cls(name, None, _import_path(policy), [(name, policy)])
        under_test.policy()
        return under_test

    def components(self) -> list[tuple[str, object]]:
        """Fresh components, leftmost first."""
        return [(name, build()) for name, build in self._parts]

    def policy(self, *before: tuple[str, object]) -> Policy:
        """A fresh policy, with other components `before` its own."""
        return Policy([*before, *self.components()])

    @property
    def oracle(self) -> bool:
        """May it see the true output lengths?"""
        return self.policy().oracle

    def modules(self) -> list[ModuleType]:
        """Where its components' classes are defined."""
        classes = {kind: None for _, part in self.components() for kind in type(part).__mro__}
        names = dict.fromkeys(kind.__module__ for kind in classes)
        return [sys.modules[name] for name in names if name in sys.modules]


def _import_path(factory: Callable[[], object]) -> str | None:
    path = f"{getattr(factory, '__module__', '')}:{getattr(factory, '__qualname__', '')}"
    try:
        found = pkgutil.resolve_name(path)
    except (ImportError, AttributeError, ValueError):  # made by a function, say
        return None
    return path if found is factory and not path.startswith("__main__:") else None
