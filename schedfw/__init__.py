"""schedfw under its own name: all that `sched_core` offers, `python -m schedfw` is the command."""

from sched_core import *  # noqa: F403 # the one list of public names is sched_core's
from sched_core import __all__ as __all__
