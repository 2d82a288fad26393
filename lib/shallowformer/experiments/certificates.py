"""Certificates of Theorem A at the paper's setting: five problems, seven widths, every step measured; stored, resumable.

    python -m shallowformer.experiments.certificates             # what is missing of results/certificates.json
    python -m shallowformer.experiments.certificates --verify 3  # recompute three rows from nothing and compare

A problem is a draw of data, anchors and teacher heads. A row is one run on it: width, step size, horizon.
"""

import argparse
import random
import time

import torch
from torch import Tensor

from shallowformer.experiments import store
from shallowformer.kernel_regime import certificates, data, mappings, parameters, transportation
from shallowformer.kernel_regime.loss import Loss
from shallowformer.kernel_regime.parameters import Parameters

NAME = "certificates"
D, T, N, TEACHER, ANCHORS = 8, 16, 5000, 8192, 16
THREES = (3.0, 3.0, 3.0)
SEEDS = range(5)
PAPER, LARGE = (4000**-0.5, 4000), (1.0, 400)  # step size, horizon
HORIZONS = (1, 4, 10, 25, 63, 100, 158, 250, 400, 632, 1000, 1585, 2500, 4000)
#: Narrow models of all problems come first.
PLAN = [
    *((m, seed, *PAPER) for m in (8, 16, 32, 64, 128) for seed in SEEDS),
    *((m, seed, *LARGE) for m in (8, 32, 128) for seed in SEEDS),
    *((m, seed, *PAPER) for m in (256, 512) for seed in SEEDS),
]


def _source(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(1000 + seed)


def inputs(seed: int) -> Tensor:
    """The inputs of a problem, without the labels, which take longer.

    Args:
        seed: of the problem.

    Returns:
        X, Float[Tensor, "n T d"].
    """
    return data.clipped_gaussian(N, T, D, _source(seed))


def problem(seed: int) -> tuple[Loss, transportation.Mapping]:
    """Data, labels and teacher, in float64.

    Args:
        seed: names the draw.

    Returns:
        The loss, and the mapping that the labels were made from.
    """
    source = _source(seed)
    X = data.clipped_gaussian(N, T, D, source)
    teacher = mappings.teacher(data.clipped_gaussian(ANCHORS, T, D, source), THREES)
    return Loss(X, transportation.represented(X, teacher, TEACHER, source).mean), teacher


def start(m: int, seed: int) -> Parameters:
    """The symmetric initialisation of a row: numbers of float32, held in float64.

    Args:
        m: width.
        seed: of the problem.

    Returns:
        φ⁽⁰⁾.
    """
    drawn = parameters.symmetric(m, D, torch.Generator().manual_seed(10_000 * m + seed))
    return drawn.map(lambda block: block.float().double())


def row(m: int, seed: int, eta: float, steps: int, dtype: torch.dtype = torch.float32) -> dict:
    """Compute one row.

    Args:
        m: width.
        seed: of the problem.
        eta: step size.
        steps: horizon.
        dtype: of the run; comparators are computed in float64.

    Returns:
        What is stored of it.
    """
    loss, teacher = problem(seed)
    phi0 = start(m, seed)
    ridge = certificates.best_ridge(loss, phi0, eta, steps)
    transported = transportation.transported(phi0, teacher)
    cast = lambda phi: phi.map(lambda block: block.to(dtype))
    begun = time.perf_counter()
    seen = certificates.follow(
        Loss(loss.X.to(dtype), loss.y[:, 0].to(dtype)),
        cast(phi0),
        [cast(ridge.point), cast(transported)],
        eta=eta,
        steps=steps,
        rho=THREES,
    )
    losses = seen.losses.double()
    horizons = [t for t in HORIZONS if t <= steps]
    return {
        "m": m,
        "seed": seed,
        "eta": eta,
        "steps": steps,
        "trivial": float(loss.y.square().mean()),
        "mean": float(losses.mean()),
        "min": float(losses.min()),
        "theta": float(seen.theta.max()),
        "trace": seen.trace,
        "active": float(seen.run.active.max()),
        "lambda": ridge.lam,
        "ridge": _comparator(seen, 0, ridge.point, phi0),
        "transported": _comparator(seen, 1, transported, phi0),
        "horizons": horizons,
        "means": [float(losses[:t].mean()) for t in horizons],
        "mins": [float(losses[:t].min()) for t in horizons],
        "provenance": {
            "problem": {"d": D, "T": T, "n": N, "teacher": TEACHER, "anchors": ANCHORS, "rho": THREES},
            "dtype": str(dtype).removeprefix("torch."),
            "torch": torch.__version__.split("+")[0],
            "seconds": round(time.perf_counter() - begun, 1),
        },
    }


def _comparator(seen: certificates.Followed, k: int, point: Parameters, phi0: Parameters) -> dict:
    displacement = [
        (a - b).reshape(phi0.m, -1).norm(dim=1).max().item() * phi0.m**0.5
        for a, b in zip(point.blocks, phi0.blocks, strict=True)
    ]
    return {
        "V0": float(seen.V0[k]),
        "epsilon_start": float(seen.epsilon[0, k]),
        "epsilon": float(seen.epsilon[:, k].max()),
        "displacement": displacement,
        "certificate": seen.certificate()[k],
    }


def key(stored: dict) -> tuple:
    """What names a row."""
    return stored["m"], stored["seed"], stored["eta"], stored["steps"]


def fill() -> None:
    """Compute what is missing."""
    for planned in PLAN:
        rows = store.load(NAME)
        if planned in {key(stored) for stored in rows}:
            continue
        fresh = row(*planned)
        store.save(NAME, sorted([*rows, fresh], key=lambda row: (-row["steps"], row["m"], row["seed"])))
        ratio = fresh["ridge"]["certificate"] / fresh["mean"]
        print(
            f"m = {fresh['m']}, problem {fresh['seed']}, eta = {fresh['eta']:.4f}: mean {fresh['mean']:.3e}, "
            f"certificate {ratio:.3f} times, trivial {fresh['trivial'] / fresh['mean']:.2f} times, "
            f"{fresh['provenance']['seconds']:.0f} s",
            flush=True,
        )


def verify(count: int) -> None:
    """Recompute a random sample of rows and compare.

    Args:
        count: how many.

    Raises:
        SystemExit: a row that differs by more than rounding on another machine can explain.
    """
    for stored in random.sample(store.load(NAME), count):
        again = row(*key(stored))
        for name in ("mean", "min", "trivial"):
            if abs(again[name] / stored[name] - 1) > 1e-3:
                raise SystemExit(f"{key(stored)}: {name} is {again[name]!r}, stored is {stored[name]!r}")
        print(f"{key(stored)}: confirmed", flush=True)


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--verify", type=int, metavar="COUNT", help="recompute so many stored rows")
    chosen = options.parse_args()
    verify(chosen.verify) if chosen.verify else fill()
