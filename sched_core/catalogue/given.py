"""Components that Python hands over: a class, or an instance, in place of a name."""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

import attrs

from sched_core.catalogue.plugin import Plugin
from sched_core.errors import InputError


@attrs.frozen
class Given:
    """A component as a class and its parameters, of which every run makes a fresh one."""

    plugin: Plugin
    parameters: Mapping[str, Any]

    @classmethod
    def of(cls, component: object) -> "Given":
        """Raises InputError for what is neither an attrs class nor an instance of one."""
        kind = component if isinstance(component, type) else type(component)
        if not attrs.has(kind):
            raise InputError(
                "not a component",
                field="policy",
                value=component,
                expected="a name such as fcfs, an attrs class, an instance of one, or a tuple",
            )
        plugin = Plugin(kind.__name__, "policies", kind.__module__, "", cls=kind)
        if component is kind:
            return cls(plugin, {})
        fields = [field for field in attrs.fields(kind) if field.init]
        values = {field.alias: getattr(component, field.name) for field in fields}
        usual = {field.alias: field.default for field in fields}
        return cls(plugin, {key: value for key, value in values.items() if value != usual[key]})

    def build(self) -> Any:
        """A fresh instance: what one run did to it, no other sees."""
        return self.plugin.cls(**deepcopy(dict(self.parameters)))

    @property
    def shown(self) -> str:
        """As a spec would say it: `Edf:slack=2`."""
        pairs = (f"{key}={value}" for key, value in self.parameters.items())
        return ":".join((self.plugin.name, *pairs))
