"""What the labels of Figure 1 cost in the norm of the student's kernel: the paper's teacher, the released one, and those between.

Labels of a function of the kernel's space cost at most its squared norm, however many inputs there are. Where the price goes on rising
with their number, there may be no such function.
"""

from dataclasses import dataclass

import torch

from shallowformer.experiments import problems
from shallowformer.experiments.experiment import Experiment
from shallowformer.kernel_regime import tangent_kernel

SEEDS = range(10)
#: Variants with a teacher of their own.
TEACHERS = ("paper", "mixed", "diagonal", "both")


@dataclass(frozen=True)
class Config:
    """Labels of all teachers at the same inputs, and the kernel there.

    Args:
        seed: of the problem and of the kernel's heads.
        sizes: numbers of inputs, rising; each takes the first ones.
        heads: drawn for the limit kernel.
        teacher: heads of the teachers.
    """

    seed: int
    sizes: tuple[int, ...] = (32, 64, 128, 256, 512, 1024, 2048)
    heads: int = 4096
    teacher: int = 32768


def plan(scale: str) -> list[Config]:
    """The draws of a scale.

    Args:
        scale: "smoke" (a tiny one), "laptop" (three, of up to 256 inputs), "paper" (ten).

    Returns:
        Configurations.
    """
    if scale == "smoke":
        return [Config(0, (4, 8, 16), heads=64, teacher=64)]
    if scale == "laptop":
        return [Config(seed, (32, 64, 128, 256), teacher=8192) for seed in SEEDS[:3]]
    return [Config(seed) for seed in SEEDS]


def compute(config: Config, device: torch.device) -> dict:
    """Compute the prices n y⊤K⁻¹y / y⊤y, in float64 on the CPU.

    Args:
        config: what to draw.
        device: not used.

    Returns:
        Lists over ``sizes`` by teacher: ``price``; and ``noise``, the part of it that the teacher's finitely many heads are expected to
        add, by the variance of one head.
    """
    given = {name: problems.problem(name, config.seed, config.sizes[-1], config.teacher) for name in TEACHERS}
    source = torch.Generator().manual_seed(5000 + config.seed)
    K = tangent_kernel.limit(given["paper"].X, config.heads, source).total
    found = {name: {"price": [], "noise": []} for name in TEACHERS}
    for n in config.sizes:
        inverse = torch.linalg.inv(K[:n, :n])
        for name, lists in found.items():
            labels = given[name].labels
            y, variance = labels.mean[:n], labels.variance[:n] / labels.draws
            size = y.square().mean()
            lists["price"].append(float(y @ inverse @ y / size))
            lists["noise"].append(float(inverse.diagonal() @ variance / size))
    return found


EXPERIMENT = Experiment(
    name="prices",
    title="What the labels of Figure 1's teachers cost in the norm of the student's kernel, against the number of inputs",
    plan=plan,
    compute=compute,
    dtype="float64",
)
