"""Two policies for real and on the calibrated model, as `schedfw hardware validate` does it."""

from gpu_check.check import Outcome, Setting
from sched_core.calibration.real_runs import validate
from sched_core.catalogue.specs import shown
from sched_core.cli.hardware.real_runs import ENGINE, document
from sched_core.experiment.scenario import Scenario

POLICIES = ("schedfw/fcfs", "schedfw/sjf+schedfw/predict-oracle")
FEW = "n=4:prompt_len=8..32:output_len=2..4"
MANY = "n=30:prompt_len=16..512:output_len=8..64"


def check(setting: Setting) -> Outcome:
    """Light load and overload; how far off simulation is, is for people to judge."""
    path = setting.file("toml")
    if not path.exists():
        return Outcome({}, ["needs the file of calibration, and there is none"])
    workload = f"schedfw/poisson:{FEW if setting.quick else MANY}"
    real = Scenario(
        hardware=f"schedfw/torch:device={setting.device}:dtype={setting.dtype}:costs={path}",
        model=setting.model,
        workload=workload,
        config=ENGINE,
    )
    found = validate(real, f"schedfw/measured:path={path}", POLICIES, 1 if setting.quick else 3)
    return Outcome({"workload": shown(workload), **document(found)})
