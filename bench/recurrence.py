"""A training step against the length of sequences: the recurrent network and attention, time and what autograd would keep.

Ratios are to the shortest length in the same run, and of the recurrence to attention at the same length.
"""

import statistics
import time
from collections.abc import Callable

import torch

from companion.experiments.kernel_regime.step_cost import kept_by_autograd
from shallowformer import data
from shallowformer.kernel_regime.model import parameters
from shallowformer.kernel_regime.model.loss import Loss
from shallowformer.kernel_regime.model.students import Students
from shallowformer.kernel_regime.recurrent import backpropagation, network

N, D, M = 500, 17, 64
LENGTHS = (2, 8, 32, 128)


def milliseconds(step: Callable[[], object], repeats: int = 7) -> float:
    """Median over repeats, after one that is not counted."""
    step()
    taken = []
    for _ in range(repeats):
        begun = time.perf_counter()
        step()
        taken.append(1e3 * (time.perf_counter() - begun))
    return statistics.median(taken)


def main() -> None:
    """Print one line a length."""
    torch.set_num_threads(1)
    source = torch.Generator().manual_seed(0)
    heads = parameters.symmetric(M, D, source).map(lambda block: block.float())
    units = network.symmetric(M, D, 0.9, source, torch.float32)
    print(f"one training step on one core: n = {N}, d = {D}, m = {M}, float32")
    first = None
    for T in LENGTHS:
        X = data.clipped_gaussian(N, T, D, source).float()
        y = torch.zeros(N)
        attention, recurrence = Loss(X, y), backpropagation.Loss(X, y)
        students = Students.of(heads)
        times = (
            milliseconds(lambda: attention.losses_and_gradient(students)),  # noqa: B023
            milliseconds(lambda: recurrence.losses_and_gradient(units.blocks)),  # noqa: B023
        )
        kept = (kept_by_autograd(X, heads), kept_by_autograd(X, units, network.f))
        first = first or (times, kept)
        print(
            f"T = {T:>3}: attention {times[0]:6.1f} ms ({times[0] / first[0][0]:4.1f} × shortest), recurrence {times[1]:6.1f} ms "
            f"({times[1] / first[0][1]:4.1f} ×), recurrence/attention {times[1] / times[0]:.2f}; autograd keeps {kept[0] / 2**20:.0f} "
            f"and {kept[1] / 2**20:.0f} MB ({kept[0] / first[1][0]:.1f} × and {kept[1] / first[1][1]:.1f} ×)"
        )


if __name__ == "__main__":
    main()
