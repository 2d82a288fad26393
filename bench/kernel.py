"""The tangent kernel as a Gram matrix: time against per-sample gradients by automatic differentiation, and at the paper's scale.

Paper scale is n = 5000, d = 8, T = 16 and 8192 independent heads. There the features of Lemma 1 would take n·m·(1 + d + d²) numbers,
12 GB in float32; the rank-one structure takes a chunk of heads at a time. The generic route runs at a size where it fits.
"""

import gc
import statistics
import subprocess
import sys
import time
from pathlib import Path

import torch
from torch.profiler import ProfilerActivity, profile

from shallowformer import data
from shallowformer.kernel_regime.kernel import tangent_kernel
from shallowformer.kernel_regime.model import parameters, transformer

D, T = 8, 16
SMALL, HEADS = 500, 256
PAPER, DRAWS = 5000, 8192


def tokens(n: int, dtype: torch.dtype) -> torch.Tensor:
    return data.clipped_gaussian(n, T, D, torch.Generator().manual_seed(0), dtype)


def generic(X: torch.Tensor, phi: parameters.Parameters) -> torch.Tensor:
    """⟨∇f, ∇f⟩ from the gradient of every sample by automatic differentiation, vectorised over samples."""

    def f(c, U, W, x):
        alpha = torch.softmax(torch.einsum("td,mde,e->mt", x, W, x[-1]), -1)
        return torch.tanh(((alpha @ x) * U).sum(-1)) @ c / len(c) ** 0.5

    gradient = torch.func.vmap(torch.func.grad(f, argnums=(0, 1, 2)), in_dims=(None, None, None, 0))
    G = torch.cat([block.flatten(1) for block in gradient(*phi.blocks, X)], 1)
    return G @ G.T


def one_by_one(X: torch.Tensor, phi: parameters.Parameters) -> torch.Tensor:
    """The same with one backward pass a sample."""
    blocks = [block.clone().requires_grad_() for block in phi.blocks]
    rows = []
    for x in X.split(1):
        value = transformer.f(x, parameters.Parameters(*blocks))[0]
        rows.append(torch.cat([g.flatten() for g in torch.autograd.grad(value, blocks)]))
    G = torch.stack(rows)
    return G @ G.T


def milliseconds(function, *arguments, repeats: int = 3) -> float:
    function(*arguments)
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function(*arguments)
        times.append(1e3 * (time.perf_counter() - start))
    return statistics.median(times)


def peak() -> float:
    """Peak resident memory of this process in megabytes, since it was last reset (Linux)."""
    return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) / 1e3


def at_paper_scale(dtype: torch.dtype, n: int = PAPER, draws: int = DRAWS) -> None:
    """Time and peak memory of the limit kernel with its standard error; runs in a process of its own."""
    X = tokens(n, dtype)
    tangent_kernel.limit(X[:64], 16, torch.Generator())
    gc.collect()
    can_measure = Path("/proc/self/clear_refs").exists()
    if can_measure:
        Path("/proc/self/clear_refs").write_text("5")  # resets the peak
    with profile(activities=[ProfilerActivity.CPU]) as profiled:
        start = time.perf_counter()
        found = tangent_kernel.limit(X, draws, torch.Generator().manual_seed(0))
        took = time.perf_counter() - start
    products = sum(e.self_cpu_time_total for e in profiled.key_averages() if e.key == "aten::addmm_") / 1e6
    memory = f"peak memory of the process {peak() / 1e3:.2f} GB, " if can_measure else ""
    print(
        f"  {str(dtype)[6:]}: {took:6.1f} s, of which matrix products {products:.1f} s ({products / took:.0%}); {memory}"
        f"mean K(X, X) {found.total.diagonal().mean():.4f}, largest standard error {found.error.max():.4f}"
    )


def main() -> None:
    X = tokens(SMALL, torch.float32)
    phi = parameters.symmetric(HEADS, D, torch.Generator().manual_seed(1), torch.float32)
    print(
        f"Gram matrix at given parameters, d={D} T={T} n={SMALL} m={HEADS}, float32, {torch.get_num_threads()} threads"
    )
    worst = float((tangent_kernel.finite(X, phi).total - generic(X, phi)).abs().max())
    ours = milliseconds(tangent_kernel.finite, X, phi)
    for name, route in (
        ("autograd, vectorised over samples", generic),
        ("autograd, sample by sample", one_by_one),
    ):
        took = milliseconds(route, X, phi)
        print(f"  {name:<36}{took:8.0f} ms   {took / ours:5.1f}× the time of ours")
    print(f"  {'rank-one blocks (ours)':<36}{ours:8.0f} ms   largest difference {worst:.1e}")
    print(f"limit kernel, n={PAPER}, {DRAWS} heads", flush=True)
    for dtype in ("float32", "float64"):
        subprocess.run([sys.executable, __file__, dtype], check=True)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        at_paper_scale(getattr(torch, sys.argv[1]), *map(int, sys.argv[2:]))
    else:
        main()
