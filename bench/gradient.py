"""Lemma 1 as an algorithm: a step of the trainer against automatic differentiation and against the machine's own floor.

Setting of the paper's Figure 1(c): d = 8, T = 16, n = 5000, m = 256, float32, full-batch gradient of the mean squared loss.
Ratios are medians of repetitions that take turns, so that a busy machine hits all alike.
"""

import statistics
import subprocess
import sys
import time
from pathlib import Path

import torch

from shallowformer.kernel_regime import data, model, parameters
from shallowformer.kernel_regime.heads import Heads
from shallowformer.kernel_regime.loss import Loss

D, T, N, M = 8, 16, 5000, 256
REPEATS = 9


def problem(n: int = N, T: int = T, m: int = M) -> tuple[torch.Tensor, torch.Tensor, parameters.Parameters]:
    generator = torch.Generator().manual_seed(0)
    X = data.clipped_gaussian(n, T, D, generator, torch.float32)
    return X, torch.randn(n, generator=generator), parameters.symmetric(m, D, generator, torch.float32)


def by_autograd(X, y, phi):
    blocks = [block.clone().requires_grad_() for block in phi.blocks]
    loss = ((model.f(X, parameters.Parameters(*blocks)) - y) ** 2).mean()
    return torch.autograd.grad(loss, blocks)


def step(X, y, phi, **options):
    """One evaluation as the trainer makes it: everything prepared, students in its layout."""
    loss, heads = Loss(X, y, **options), Heads.of(phi)
    return lambda: loss.of(heads)


def floor(n: int, T: int, m: int):
    """As many multiplications as Lemma 1 needs, in matrix products of a size that suits the machine, and the exponentials.

    Multiplications: n·m·d² each for the keys and the gradient of W; n·m·T·d each for logits, ⟨U, X_t⟩, and two sums over tokens.
    """
    multiplications = n * m * (2 * D**2 + 4 * T * D)
    size = 1024
    A, B, C = (torch.randn(size, size) for _ in range(3))
    repeats, chunk = multiplications / size**3, torch.randn(2**18)
    exponentials = n * m * T // chunk.numel()

    def work():
        for _ in range(round(repeats)):
            torch.mm(A, B, out=C)
        for _ in range(exponentials):
            torch.exp2(chunk, out=chunk.clone())

    return work


def milliseconds(functions: dict) -> dict[str, float]:
    """Median time of each function; all are called in turn."""
    times = {name: [] for name in functions}
    for repeat in range(REPEATS + 1):
        for name, function in functions.items():
            start = time.perf_counter()
            function()
            if repeat:
                times[name].append(1e3 * (time.perf_counter() - start))
    return {name: statistics.median(values) for name, values in times.items()}


def peak_megabytes(route: str, *sizes: int) -> float:
    """Peak memory of one gradient above that of the problem itself, in a process of its own."""
    command = [sys.executable, __file__, route, *map(str, sizes)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def peak() -> float:
    """Peak resident memory of this process in megabytes, since it was last reset (Linux)."""
    return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) / 1e3


def measure_memory(route: str, *sizes: int) -> None:
    X, y, phi = problem(*sizes)
    Path("/proc/self/clear_refs").write_text("5")  # resets the peak
    before = peak()
    by_autograd(X, y, phi) if route == "autograd" else step(X, y, phi)()
    print(peak() - before)


def main() -> None:
    X, y, phi = problem()
    routes = {
        "autograd through the model": lambda: by_autograd(X, y, phi),
        "trainer": step(X, y, phi),
        "trainer, compiled": step(X, y, phi, compiled=True),
        "floor: matrix products and exponentials": floor(N, T, M),
    }
    took = milliseconds(routes)
    baseline, *_, least = took.values()
    print(f"one full-batch gradient, d={D} T={T} n={N} m={M}, float32, {torch.get_num_threads()} threads")
    for name, value in took.items():
        print(
            f"  {name:<40} {value:6.0f} ms   {baseline / value:4.1f}× as fast as autograd   {value / least:5.1f} × the floor"
        )
    print("time of a step as one size doubles (2.0 is linear)")
    for name, small, large in (
        ("n", (N // 2, T, M), (N, T, M)),
        ("T", (N, T, M), (N, 2 * T, M)),
        ("m", (N, T, M // 2), (N, T, M)),
    ):
        pair = milliseconds({"small": step(*problem(*small)), "large": step(*problem(*large))})
        print(f"  {name}: {pair['large'] / pair['small']:.1f}")
    students = [
        parameters.symmetric(8, D, torch.Generator().manual_seed(k), torch.float32) for k in range(10)
    ]
    loss, together = Loss(X, y), Heads.of(*students)
    alone = [Heads.of(student) for student in students]
    pair = milliseconds(
        {"together": lambda: loss.of(together), "alone": lambda: [loss.of(one) for one in alone]}
    )
    print(
        f"ten students of 8 heads side by side: {pair['alone'] / pair['together']:.1f}× as fast as one after the other"
    )
    if not Path("/proc/self/clear_refs").exists():
        return
    print("peak memory above the problem's own")
    for sizes in ((1000, T, M), (4000, T, M), (16000, T, M), (1000, 4 * T, M), (1000, T, 4 * M)):
        ours, theirs = peak_megabytes("trainer", *sizes), peak_megabytes("autograd", *sizes)
        print(
            "  n={:>5} T={:>3} m={:>4}".format(*sizes)
            + f"   trainer {ours:6.0f} MB   autograd {theirs:6.0f} MB"
        )


if __name__ == "__main__":
    if len(sys.argv) > 1:
        measure_memory(sys.argv[1], *map(int, sys.argv[2:]))
    else:
        main()
