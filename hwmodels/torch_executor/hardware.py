"""The entry point `torch`. torch itself is imported when a run needs it: it may be missing."""

from types import ModuleType

import attrs

from hwmodels.torch_executor.settings import Settings
from sched_core import Executor, InputError, PluginLoadError


@attrs.frozen(kw_only=True)
class Torch(Settings):
    """A real model on this machine's CUDA device or CPU: steps are run and timed, not priced."""

    def executor(self, model: str | None, *, block_size: int) -> Executor:
        """An executor for a built-in model, or a directory with config.json and safetensors.

        Raises InputError where the model would not be run exactly, PluginLoadError without torch.
        """
        if model is None:
            raise InputError("the torch executor needs a model", field="model", expected="a name")
        built: Executor = _setup().executor(self, model, block_size)
        return built

    def measure(self, model: str, *, steps: int, repeats: int) -> str:
        """Time random mixed steps, and fit a price: the text of a file for `measured:path=`."""
        text: str = _setup().calibration(self, model, steps, repeats).to_toml()
        return text


def _setup() -> ModuleType:
    try:
        from hwmodels.torch_executor import setup
    except ModuleNotFoundError as error:
        raise PluginLoadError(
            f"hardware 'torch' needs {error.name}: pip install 'schedfw[torch]'"
        ) from None
    return setup
