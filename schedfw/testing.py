"""Checks of policies for their authors: all that `sched_core.testing` offers."""

from sched_core.testing import *  # noqa: F403 # likewise
from sched_core.testing import __all__ as __all__
