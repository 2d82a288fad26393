"""Lemma 1 as an algorithm: time against automatic differentiation, and memory against n, as ratios of one run.

Setting of the paper's Figure 1(c): d = 8, T = 16, n = 5000, m = 256, float32, full-batch gradient of the mean squared loss.
"""

import statistics
import subprocess
import sys
import time
from pathlib import Path

import torch

from shallowformer.kernel_regime import data, gradients, model, parameters

D, T, N, M = 8, 16, 5000, 256


def problem(n: int) -> tuple[torch.Tensor, torch.Tensor, parameters.Parameters]:
    generator = torch.Generator().manual_seed(0)
    X = data.clipped_gaussian(n, T, D, generator, torch.float32)
    return X, torch.randn(n, generator=generator), parameters.symmetric(M, D, generator, torch.float32)


def by_autograd(X, y, phi):
    blocks = [block.clone().requires_grad_() for block in phi.blocks]
    loss = ((model.f(X, parameters.Parameters(*blocks)) - y) ** 2).mean()
    return torch.autograd.grad(loss, blocks)


def milliseconds(function, *arguments, repeats: int = 9, **options) -> float:
    function(*arguments, **options)
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function(*arguments, **options)
        times.append(1e3 * (time.perf_counter() - start))
    return statistics.median(times)


def peak_megabytes(n: int, route: str) -> float:
    """Peak memory of one gradient above that of the problem itself, in a process of its own."""
    out = subprocess.run(
        [sys.executable, __file__, route, str(n)], capture_output=True, text=True, check=True
    )
    return float(out.stdout)


def peak() -> float:
    """Peak resident memory of this process in megabytes, since it was last reset (Linux)."""
    return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) / 1e3


def measure_memory(route: str, n: int) -> None:
    X, y, phi = problem(n)
    Path("/proc/self/clear_refs").write_text("5")  # resets the peak
    before = peak()
    by_autograd(X, y, phi) if route == "autograd" else gradients.loss_and_gradient(X, y, phi)
    print(peak() - before)


def main() -> None:
    X, y, phi = problem(N)
    baseline = milliseconds(by_autograd, X, y, phi)
    print(f"one full-batch gradient, d={D} T={T} n={N} m={M}, float32, {torch.get_num_threads()} threads")
    print(f"  autograd through the model      {baseline:7.0f} ms   1.0×")
    for chunk in (64, gradients.CHUNK, 256, N):
        took = milliseconds(gradients.loss_and_gradient, X, y, phi, chunk=chunk)
        print(f"  Lemma 1, {chunk:>4} samples a chunk   {took:7.0f} ms   {baseline / took:.1f}× as fast")
    if not Path("/proc/self/clear_refs").exists():
        return
    print("peak memory above the problem's own")
    for n in (1000, 4000, 16000):
        ours, theirs = peak_megabytes(n, "lemma"), peak_megabytes(n, "autograd")
        print(f"  n={n:>5}   Lemma 1 {ours:6.0f} MB   autograd {theirs:6.0f} MB")


if __name__ == "__main__":
    if len(sys.argv) == 3:
        measure_memory(sys.argv[1], int(sys.argv[2]))
    else:
        main()
