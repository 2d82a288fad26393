"""A step of the structure-aware algorithm in closed form against automatic differentiation of the same loss: time and memory.

Self-context of n tokens in d = 5 dimensions, float64, one thread. Ratios are medians of repetitions that take turns, so that a busy machine
hits both alike.
"""

import statistics
import time

import torch

from shallowformer.preconditioned import algorithm, covariances, gradients, problems, starts

D, SIZES, REPEATS = 5, (250, 1000, 4000), 9


def problem(n: int) -> tuple[algorithm.Algorithm, tuple[torch.Tensor, torch.Tensor]]:
    source = torch.Generator().manual_seed(7)
    law = problems.random(covariances.geometric(D, 1.5, 0.375), 10.0, source, sigma=0.5)
    X, Y = law.samples(n, source)
    method = algorithm.Algorithm(X, Y)
    return method, starts.perturbed(*starts.spectral(method.moments), 0.1, source)


def by_autograd(method: algorithm.Algorithm, point: tuple[torch.Tensor, torch.Tensor]):
    """The same direction: the loss as one writes it down, c held, and the regulariser."""
    U, V = (block.clone().requires_grad_() for block in point)
    R, c, X = method.moments.inverse_root, method.scale_of(point[1]), method.X
    A, B = c * U @ R, R @ V @ R / c
    loss = (torch.softmax(X @ B @ X.T, 1) @ X @ A.T - method.Y).square().sum() / (2 * len(X))
    total = loss + method.lam / 4 * (U.T @ U - V.T @ V).square().sum()
    return loss, torch.autograd.grad(total, (U, V))


def main() -> None:
    """Print one line a size."""
    torch.set_num_threads(1)
    print(f"one step of the algorithm on one core: d = {D}, float64")
    first = None
    for n in SIZES:
        method, point = problem(n)
        routes = {"closed": lambda: method.losses_and_gradient(point), "autograd": lambda: by_autograd(method, point)}  # noqa: B023 # fmt: skip
        off = max(
            float((a - b).abs().max())
            for a, b in zip(routes["closed"]()[1], routes["autograd"]()[1], strict=True)
        )
        times = {name: [] for name in routes}
        for _ in range(REPEATS):
            for name, route in routes.items():
                begun = time.perf_counter()
                route()
                times[name].append(1e3 * (time.perf_counter() - begun))
        ours, theirs = (statistics.median(times[name]) for name in ("closed", "autograd"))
        first = first or ours
        # Autograd keeps logits' softmax whole, and makes its gradient: n² numbers each.
        kept, whole = min(gradients._PAIRS, n * n) / n / n, 8 * n * n / 2**20
        print(
            f"n = {n:>4}: closed form {ours:7.2f} ms ({ours / first:5.1f} × smallest, n² is {(n / SIZES[0]) ** 2:.0f} ×), "
            f"autograd/closed form {theirs / ours:.2f}; an array of all pairs has {whole:.1f} MB, a chunk {kept:.3f} of it; "
            f"they differ by {off:.1e}"
        )


if __name__ == "__main__":
    main()
