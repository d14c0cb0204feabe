"""A stack of components -> for each hook, the calls to make, fixed once per run.

pluggy checks and orders the implementations; the run then calls them directly, since a hook is
asked thousands of times a second.
"""

from collections.abc import Callable
from typing import Any

import pluggy

from sched_core.errors import PluginLoadError
from sched_core.hookspecs import PROJECT, Decisions, Events


class Hook:
    """One hook of one stack: its implementations, first to be asked first."""

    __slots__ = ("answered", "asked", "calls", "name")

    def __init__(self, name: str, calls: list[tuple[str, Callable[..., Any]]]) -> None:
        self.name = name
        self.calls = calls
        self.asked = ""
        """Name of the component that gave the last answer; "" if nobody had an opinion."""
        self.answered: dict[str, None] = {}
        """Names of the components that ever gave an answer."""

    def __bool__(self) -> bool:
        return bool(self.calls)

    @property
    def components(self) -> list[str]:
        """Names of the components that implement it, first to be asked first."""
        return [name for name, _ in self.calls]

    def ask(self, *args: object) -> Any:
        """The first answer that is not None."""
        for name, call in self.calls:
            self.asked = name
            answer = call(*args)
            if answer is not None:
                self.answered[name] = None
                return answer
        self.asked = ""
        return None


def bind(components: list[tuple[str, object]]) -> dict[str, Hook]:
    """Register the components, leftmost asked first, and bind every hook of the contract.

    Raises PluginLoadError for a component that does not keep the contract: an unknown hook, an
    argument that the hook does not have, a wrapper, or no hook at all.
    """
    manager = pluggy.PluginManager(PROJECT)
    manager.add_hookspecs(Decisions)
    manager.add_hookspecs(Events)
    for name, component in reversed(components):  # pluggy calls the last registered first
        _register(manager, name, component)
    hooks = [name for spec in (Decisions, Events) for name in vars(spec) if name[0] != "_"]
    return {name: Hook(name, _calls(getattr(manager.hook, name))) for name in hooks}


def _register(manager: pluggy.PluginManager, name: str, component: object) -> None:
    try:
        plugin_name = manager.register(component, name=name)
        manager.check_pending()
    except (pluggy.PluginValidationError, ValueError) as error:
        raise PluginLoadError(f"component {name!r} does not keep the contract: {error}") from error
    if plugin_name is None or not manager.get_hookcallers(component):
        raise PluginLoadError(
            f"component {name!r} implements no hook; mark its methods with @hookimpl"
        )


def _calls(caller: pluggy.HookCaller) -> list[tuple[str, Callable[..., Any]]]:
    assert caller.spec is not None
    impls = caller.get_hookimpls()
    for impl in impls:
        if impl.hookwrapper or impl.wrapper:
            raise PluginLoadError(
                f"component {impl.plugin_name!r}: hook {caller.name!r} is a wrapper, which a bound "
                "hook cannot have; answer the hook, or None to let the next component decide"
            )
    wanted = caller.spec.argnames
    return [(impl.plugin_name, _positional(impl, wanted)) for impl in reversed(impls)]


def _positional(impl: pluggy.HookImpl, wanted: tuple[str, ...]) -> Callable[..., Any]:
    """The implementation as a function of all the hook's arguments, in order."""
    function, places = impl.function, tuple(wanted.index(name) for name in impl.argnames)
    if places == tuple(range(len(wanted))):
        return function
    return lambda *args: function(*[args[place] for place in places])
