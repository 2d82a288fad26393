"""Lemma 1 as an algorithm: a step of the trainer against automatic differentiation and against the machine's own floor.

Setting of the paper's Figure 1(c): d = 8, T = 16, n = 5000, m = 256, float32, full-batch gradient of the mean squared loss; and other widths
and lengths.
Ratios are medians of repetitions that take turns, so that a busy machine hits all alike.
"""

import statistics
import subprocess
import sys
import time
from pathlib import Path

import torch

from shallowformer import data
from shallowformer.kernel_regime.convergence import descent
from shallowformer.kernel_regime.model import parameters, transformer
from shallowformer.kernel_regime.model.loss import Loss
from shallowformer.kernel_regime.model.students import Students

try:
    import jax
except ImportError:
    jax = None

D, T, N, M = 8, 16, 5000, 256
WIDTHS, LENGTHS = (64, 256, 512, 2048), (16, 64)
REPEATS, STEPS, HORIZON = 9, 100, 4000

#: From so many heads times tokens on a fifth of the samples must do: autograd keeps some ten arrays of all of them in memory.
MOST = 2**16

#: Seconds between two measurements: threads of what ran before go on spinning for a while, on a core that the next one needs.
PAUSE = 0.02


def problem(
    n: int = N, T: int = T, m: int = M, dtype: torch.dtype = torch.float32
) -> tuple[torch.Tensor, torch.Tensor, parameters.Parameters]:
    generator = torch.Generator().manual_seed(0)
    X = data.clipped_gaussian(n, T, D, generator, dtype)
    return X, torch.randn(n, generator=generator, dtype=dtype), parameters.symmetric(m, D, generator, dtype)


def by_autograd(X, y, phi, f=transformer.f):
    blocks = [block.clone().requires_grad_() for block in phi.blocks]
    loss = ((f(X, parameters.Parameters(*blocks)) - y) ** 2).mean()
    return torch.autograd.grad(loss, blocks)


def by_torch_attention(X, phi):
    """The model by torch's own attention: a sample is an entry of the batch, its heads are the queries."""
    queries = torch.einsum("mkl,nl->nmk", phi.W, X[:, -1])
    a = torch.nn.functional.scaled_dot_product_attention(queries, X, X, scale=1.0)
    return torch.tanh((a * phi.U).sum(-1)) @ phi.c / phi.m**0.5


def with_jax(X, y, phi, samples: int = 100):
    """A compiled step in JAX: a scan over a few samples at a time, whose gradients are added up."""
    jax.config.update("jax_enable_x64", True)  # types are those of the arrays
    jnp = jax.numpy
    blocks = [jnp.asarray(block.numpy()) for block in phi.blocks]
    parts = [jnp.asarray(part.numpy()).reshape(-1, samples, *part.shape[1:]) for part in (X, y)]

    def squares(blocks, X, y):
        c, U, W = blocks
        weights = jax.nn.softmax(jnp.einsum("ntk,nmk->nmt", X, jnp.einsum("mkl,nl->nmk", W, X[:, -1])))
        f = jnp.tanh((jnp.einsum("nmt,ntk->nmk", weights, X) * U).sum(-1)) @ c / len(c) ** 0.5
        return ((f - y) ** 2).sum() / parts[1].size

    @jax.jit
    def gradient(blocks, parts):
        def add(total, some):
            return jax.tree.map(jnp.add, total, jax.grad(squares)(blocks, *some)), None

        return jax.lax.scan(add, jax.tree.map(jnp.zeros_like, blocks), parts)[0]

    return lambda: jax.block_until_ready(gradient(blocks, parts))


def step(X, y, phi, **options):
    """One evaluation as the trainer makes it: everything prepared, students in its layout."""
    loss, students = Loss(X, y, **options), Students.of(phi)
    return lambda: loss.losses_and_gradient(students)


def floor(n: int, T: int, m: int, dtype: torch.dtype):
    """As many multiplications as Lemma 1 needs, in matrix products of a size that suits the machine, and the exponentials.

    Multiplications: n·m·d² each for the keys and the gradient of W; n·m·T·d each for logits, ⟨U, X_t⟩, and two sums over tokens.
    """
    size = 1024
    products, rest = divmod(n * m * (2 * D**2 + 4 * T * D), size**3)
    A, B, C = (torch.randn(size, size, dtype=dtype) for _ in range(3))
    rows = max(1, round(rest / size**2))
    chunk = torch.randn(2**18, dtype=dtype)
    exponentials, powers = n * m * T // chunk.numel(), torch.empty_like(chunk)

    def work():
        for _ in range(products):
            torch.mm(A, B, out=C)
        torch.mm(A[:rows], B, out=C[:rows])
        for _ in range(exponentials):
            torch.exp2(chunk, out=powers)

    return work


def milliseconds(functions: dict, repeats: int = REPEATS) -> dict[str, tuple[float, float, float]]:
    """Lower quartile, median and upper quartile of the time of each function; all are called in turn."""
    times = {name: [] for name in functions}
    for repeat in range(repeats + 1):
        for name, function in functions.items():
            time.sleep(PAUSE)
            start = time.perf_counter()
            function()
            if repeat:
                times[name].append(1e3 * (time.perf_counter() - start))
    return {name: tuple(statistics.quantiles(values, n=4)) for name, values in times.items()}


def median(functions: dict, repeats: int = REPEATS) -> dict[str, float]:
    return {name: quartiles[1] for name, quartiles in milliseconds(functions, repeats).items()}


def compare(m: int, T: int, dtype: torch.dtype) -> None:
    """A step by every route, against autograd and the floor."""
    n = N if m * T < MOST else N // 5
    X, y, phi = problem(n, T, m, dtype)
    routes = {
        "autograd": lambda: by_autograd(X, y, phi),
        "attention of torch": lambda: by_autograd(X, y, phi, by_torch_attention),
        **({"JAX": with_jax(X, y, phi)} if jax else {}),
        "in torch": step(X, y, phi, fused=False),
        "trainer": step(X, y, phi),
        "floor": floor(n, T, m, dtype),
    }
    took = milliseconds(routes, 5 if m * T > 2**14 else REPEATS)
    baseline, least = took["autograd"][1], took["floor"][1]
    cells = [
        f"{name} {middle:.1f} ({low:.1f} to {high:.1f}) ms" for name, (low, middle, high) in took.items()
    ]
    ours = took["trainer"][1]
    print(f"  m={m:<5}T={T:<4}n={n:<5}{str(dtype)[6:]}: {'; '.join(cells)}")
    print(
        f"      trainer: {baseline / ours:.1f}× as fast as autograd, {took['in torch'][1] / ours:.1f}× as in torch, {ours / least:.2f} × the floor"
    )


def whole_run(m: int) -> tuple[float, float]:
    """Seconds that a run of Figure 1(c) would take by its first steps, and its time over that of as many gradients."""
    X, y, phi = problem(m=m)
    one = step(X, y, phi)
    options = {"eta": HORIZON**-0.5, "steps": STEPS, "rho": (3.0,) * 3, "every": STEPS}
    took = median(
        {
            "run": lambda: descent.run(Loss(X, y), phi, **options),
            "gradients": lambda: [one() for _ in range(STEPS)],
        },
        3,
    )
    return took["run"] / 1e3 * HORIZON / STEPS, took["run"] / took["gradients"]


def peak_megabytes(route: str, *sizes: int) -> float:
    """Peak memory of one gradient above that of the problem itself, in a process of its own."""
    command = [sys.executable, __file__, route, *map(str, sizes)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def peak() -> float:
    """Peak resident memory of this process in megabytes, since it was last reset (Linux)."""
    return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) / 1e3


def measure_memory(route: str, *sizes: int) -> None:
    step(*problem(100, T, M))()  # loads or compiles what is compiled
    X, y, phi = problem(*sizes)
    Path("/proc/self/clear_refs").write_text("5")  # resets the peak
    before = peak()
    by_autograd(X, y, phi) if route == "autograd" else step(X, y, phi)()
    print(peak() - before)


def main() -> None:
    print(f"one full-batch gradient, d={D} n={N}, {torch.get_num_threads()} threads: median (quartiles)")
    for m in WIDTHS:
        for length in LENGTHS:
            compare(m, length, torch.float32)
    for m in WIDTHS[:2]:
        compare(m, T, torch.float64)
    if not jax:
        print("  without JAX, which is not installed")
    print("time of a step as one size doubles (2.0 is linear)")
    for name, small, large in (
        ("n", (N // 2, T, M), (N, T, M)),
        ("T", (N, T, M), (N, 2 * T, M)),
        ("m", (N, T, M // 2), (N, T, M)),
    ):
        pair = median({"small": step(*problem(*small)), "large": step(*problem(*large))})
        print(f"  {name}: {pair['large'] / pair['small']:.1f}")
    print(
        f"a run as in Figure 1(c), with projection, averages and records, by {STEPS} of its {HORIZON} steps"
    )
    for m in (8, 16, 32, *WIDTHS[:3]):
        seconds, ratio = whole_run(m)
        print(f"  m={m}: {seconds:.0f} s, {ratio:.2f} of its gradients alone")
    X, y, _ = problem()
    students = [
        parameters.symmetric(8, D, torch.Generator().manual_seed(k), torch.float32) for k in range(10)
    ]
    loss, together = Loss(X, y), Students.of(*students)
    alone = [Students.of(student) for student in students]
    pair = median(
        {
            "together": lambda: loss.losses_and_gradient(together),
            "alone": lambda: [loss.losses_and_gradient(one) for one in alone],
        }
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
