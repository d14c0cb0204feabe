"""A stack of components -> for each hook, the calls to make, fixed once per run.

pluggy checks and orders the implementations; the run then calls them directly, since a hook is
asked thousands of times a second.
"""

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import pluggy

from sched_core.errors import PluginLoadError, UnknownName
from sched_core.policy.hookspecs import PROJECT, Decisions, Events

HOOKS = tuple(name for spec in (Decisions, Events) for name in vars(spec) if name[0] != "_")
"""Every hook of the contract."""


class Call:
    """How one component is asked one hook."""

    __slots__ = ("answers", "ask", "who")

    def __init__(self, who: str, ask: Callable[..., Any]) -> None:
        self.who = who
        """The component's name."""
        self.ask = ask
        """A function of all the hook's arguments, in order."""
        self.answers = 0
        """How often it had an opinion, or was told."""


class Hook:
    """One hook of one stack: its implementations, first to be asked first."""

    __slots__ = ("calls", "name")

    def __init__(self, name: str, calls: list[Call]) -> None:
        self.name = name
        self.calls = calls

    def __bool__(self) -> bool:
        return bool(self.calls)

    @property
    def components(self) -> list[str]:
        """Names of the components that implement it, first to be asked first."""
        return [call.who for call in self.calls]

    @property
    def answered(self) -> list[str]:
        """Those of them that ever gave an answer."""
        return [call.who for call in self.calls if call.answers]


def bind(components: list[tuple[str, object]]) -> dict[str, Hook]:
    """Register the components, leftmost asked first, and bind every hook of the contract.

    Raises PluginLoadError for a component that does not keep the contract: an unknown hook, an
    argument that the hook does not have, a wrapper, a hook that is not marked, or none at all.
    """
    manager = _manager()
    for name, component in reversed(components):  # pluggy calls the last registered first
        for problem in _problems(manager, name, component):
            raise PluginLoadError(f"component {name!r} does not keep the contract: {problem}")
        try:
            manager.register(component, name=name)
        except ValueError as error:
            raise PluginLoadError(f"component {name!r} stands twice in the stack") from error
    return {name: Hook(name, _calls(getattr(manager.hook, name))) for name in HOOKS}


class _Manager(pluggy.PluginManager):
    """Does not look at the dozens of special methods that every object has: a run binds anew."""

    def parse_hookimpl_opts(self, plugin: object, name: str) -> pluggy.HookimplOpts | None:
        return None if name.startswith("__") else super().parse_hookimpl_opts(plugin, name)

    def parse_hookspec_opts(self, module_or_class: Any, name: str) -> pluggy.HookspecOpts | None:
        return None if name.startswith("__") else super().parse_hookspec_opts(module_or_class, name)


def _manager() -> pluggy.PluginManager:
    manager = _Manager(PROJECT)
    manager.add_hookspecs(Decisions)
    manager.add_hookspecs(Events)
    return manager


def _problems(manager: pluggy.PluginManager, name: str, component: object) -> Iterator[str]:
    """What is wrong with a component's hooks, in words that tell its author what to change."""
    marked = _marked(manager, name, component)
    forgotten = [hook for hook in HOOKS if hook not in marked and _is_method(component, hook)]
    if not marked:
        methods = ", ".join(forgotten) or "its methods"
        yield f"it implements no hook; mark {methods} with @hookimpl of sched_core"
    for hook in forgotten:
        yield (
            f"method {hook!r} is not marked and would never be called; mark it with @hookimpl of "
            "sched_core, or rename it"
        )
    for hook, impl in marked.items():
        if hook not in HOOKS:
            yield str(UnknownName("hook", hook, HOOKS))
        elif impl.hookwrapper or impl.wrapper:
            yield (
                f"hook {hook!r} is a wrapper, which a bound hook cannot have; answer the hook, or "
                "None to let the next component decide"
            )
        else:
            yield from _argument_problems(hook, impl, getattr(manager.hook, hook).spec.argnames)


def _is_method(component: object, name: str) -> bool:
    return inspect.isroutine(getattr(component, name, None))  # a parameter may have the name


def _marked(
    manager: pluggy.PluginManager, name: str, component: object
) -> dict[str, pluggy.HookImpl]:
    """Hook -> the method that is marked as an answer to it."""
    options = {each: manager.parse_hookimpl_opts(component, each) for each in dir(component)}
    return {
        opts["specname"] or attribute: pluggy.HookImpl(
            component, name, getattr(component, attribute), opts
        )
        for attribute, opts in options.items()
        if opts is not None
    }


def _argument_problems(hook: str, impl: pluggy.HookImpl, known: tuple[str, ...]) -> Iterator[str]:
    where = f"hook {hook!r}"
    for argument in impl.argnames:
        if argument not in known:
            yield str(UnknownName("argument", argument, known, where=where))
    for argument in inspect.signature(impl.function).parameters:
        if argument in known and argument not in impl.argnames:
            yield f"{where}: {argument!r} has a default or is keyword-only, so it is never filled"


def _calls(caller: pluggy.HookCaller) -> list[Call]:
    assert caller.spec is not None
    wanted = caller.spec.argnames
    return [
        Call(impl.plugin_name, _positional(impl, wanted))
        for impl in reversed(caller.get_hookimpls())
    ]


def _positional(impl: pluggy.HookImpl, wanted: tuple[str, ...]) -> Callable[..., Any]:
    """The implementation as a function of all the hook's arguments, in order."""
    function, places = impl.function, tuple(wanted.index(name) for name in impl.argnames)
    if places == tuple(range(len(wanted))):
        return function
    if len(places) == 1:
        (only,) = places
        return lambda *args: function(args[only])
    return lambda *args: function(*[args[place] for place in places])
