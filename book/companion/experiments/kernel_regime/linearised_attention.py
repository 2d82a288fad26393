"""Linearised attention before a two-layer network, at growing width: what its tangent kernel, its training and its certificate do.

300 of scikit-learn's 8 × 8 digits, a row of unit length each; labels ±1 for even and odd; from w⁺ = w⁻, 200 steps of the inverse smoothness
of the linear model. ``attended``: the rows of X Xᵀ X, of unit length again; ``plain``: those of X.

Written down before the first run on digits; some numbers of two seeds, from another program (relative kernel error .129, .060, .012 at
64, 256, 1024 units, without attention .213, .106, .042; movement .023, .009, .006, without .085, .052, .024; loss .98 of trivial, without
.16; distance from the linear run .124, .111, .097), and runs on made-up pictures were known. Expected, for ReLU unless told otherwise:

- ``error``: the root mean square over ten seeds of the relative error of the kernel at the start is within a factor of 1.5 of the formula
  at every width, with and without attention.
- ``smaller``: the formula gives less with attention than without, in every seed.
- ``moves``: mean relative movement of the kernel over the run is smaller with attention than without at every width, and for both its
  fitted exponent in the width is between −0.7 and −0.3.
- ``stuck``: with attention the final loss is at least 0.9 of the trivial one in every run; without, the mean is at most 0.4 at every width.
- ``slow``: with attention the mean distance of the outputs from their own linear run falls with the width, with an exponent between −0.25
  and 0.
- ``absolute``: without the 1/m the kernel's distance from its limit grows, with an exponent between 0.3 and 0.7.
- ``spectral``: relative to the limit in every direction, the kernel is worse with attention than without at every width, in the mean, and
  its smallest generalised eigenvalue is below ½ up to 1024 units.
- ``softplus``: distance from the linear run falls with an exponent between −1.3 and −0.7, with and without attention.
- ``certified``: for softplus and 1024 units the bound stays below a tenth of the labels' size for at least 20 steps in every seed, with and
  without attention; for ReLU for no more than 10 steps in any run.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Generator, Tensor

from companion.theory.kernel_regime import perceptron, perceptron_run
from shallowformer.experiments.experiment import Experiment
from shallowformer.kernel_regime.linear_run import known
from shallowformer.real import images

#: Steps at which distances and bounds are kept.
AT = (1, 2, 5, 10, 20, 50, 100, 200)
#: A bound counts as useful below this share of the labels' size.
USEFUL = 0.1
#: Units.
WIDTHS = (64, 256, 1024, 4096)


@dataclass(frozen=True)
class Config:
    """Pictures, a start, and a run."""

    attended: bool
    activation: str  # of ``perceptron.ACTIVATIONS``
    m: int  # units
    seed: int  # of pictures and start
    n: int = 300
    steps: int = AT[-1]


def plan(scale: str) -> list[Config]:
    """Every width with and without attention, both activations, several seeds."""
    if scale == "smoke":
        return [Config(True, "relu", 8, 0, n=12, steps=2)]
    return [
        Config(attended, activation, m, seed)
        for m in WIDTHS
        for seed in range(3 if scale == "laptop" else 10)
        for activation in perceptron.ACTIVATIONS
        for attended in (False, True)
    ]


def posed(
    config: Config,
) -> tuple[Float[Tensor, "n d"], Float[Tensor, "n d"], Float[Tensor, " n"], Generator]:
    """Pictures as unit rows, what the network sees of them, labels ±1, and the generator of the start."""
    shown = images.digits()
    generator = Generator().manual_seed(config.seed)
    chosen = torch.randperm(len(shown.values), generator=generator)[: config.n]
    X = perceptron.unit_rows(shown.values[chosen])
    seen = perceptron.unit_rows(perceptron.attended(X)) if config.attended else X
    return X, seen, 1.0 - 2.0 * (shown.labels[chosen] % 2).to(X), generator


def _relative(K: Tensor, limit: Tensor) -> float:
    return float((K - limit).norm() / limit.norm())


def spectrum(X: Float[Tensor, "n d"], seen: Float[Tensor, "n d"], y: Float[Tensor, " n"]) -> dict:
    """Of pictures, features and limit kernel: condition numbers over the rank, the smallest angle, shares of the first direction."""
    rank = int(torch.linalg.matrix_rank(X))
    ends = lambda X: torch.linalg.svdvals(X)[[0, rank - 1]].square()
    (most, least), (most_seen, least_seen) = ends(X), ends(seen)
    values, vectors = torch.linalg.eigh(perceptron.limit_kernel(seen))
    i, j = divmod(int((seen @ seen.mT).fill_diagonal_(0.0).argmax()), len(seen))
    return {
        "kappa": float(most / least),
        "kappa_seen": float(most_seen / least_seen),
        "kappa_kernel": float(values[-1] / values[0]),
        "chernoff": float(most_seen / values[0]),
        # from the chord, as the cosine of a small angle forgets half of its digits
        "angle": float(2 * torch.asin((seen[i] - seen[j]).norm() / 2)),
        "first": float(values[-1] / values.sum()),
        "labels_first": float((vectors[:, -1] @ y).square() / y.square().sum()),
    }


def _relu(config: Config, seen: Tensor, w: Tensor) -> dict:
    """The kernel at the start against its limit."""
    limit, K = perceptron.limit_kernel(seen), perceptron.kernel(seen, w, perceptron.RELU.slope)
    root = torch.linalg.cholesky(limit)
    whitened = torch.linalg.solve_triangular(
        root, torch.linalg.solve_triangular(root, K, upper=False).mT, upper=False
    )
    values = torch.linalg.eigvalsh(whitened)
    return {
        "error": _relative(K, limit),
        "expected": perceptron.mean_square_error(seen, config.m) ** 0.5 / float(limit.norm()),
        "absolute": config.m * float((K - limit).norm()),
        "lowest": float(values[0]),
        "highest": float(values[-1]),
    }


def compute(config: Config, device: torch.device) -> dict:
    """Kernel, run, linear run, certificate.

    Returns: ``step``: η; ``movement``: of the kernel, relative to its start; ``loss``, ``linear``: in the end, over the trivial one;
    ``distance``, ``bound``: from the linear run at ``AT``, over ‖y‖_n; ``certified``: the last step up to which the bound is below
    ``USEFUL``; ``switched``: share of signs of preactivations that the run changed. For ReLU ``error``, ``expected``, ``absolute`` of
    ‖K_m − K_∞‖_F, relative or times m, ``lowest`` and ``highest`` eigenvalue of K_m relative to K_∞, ``limit``: the distance at the end
    from the linear run of K_∞, and ``spectrum``.
    """
    X, seen, y, generator = posed(config)
    act, n = perceptron.ACTIVATIONS[config.activation], len(seen)
    w = perceptron.start(config.m // 2, seen.shape[1], generator)
    G = perceptron.kernel(seen, w, act.slope) / n
    relu = act is perceptron.RELU
    longest = perceptron.limit_kernel(seen) / n if relu else G
    eta = float(0.5 / torch.linalg.eigvalsh(longest)[-1])
    linear = known.linear_run(G, y, eta, config.steps)
    run = perceptron.train(seen, y, w, act, eta, config.steps)
    sure = perceptron_run.certificate(seen, w, linear, act, eta)
    both = torch.cat([run.plus, run.minus])
    distance = (run.r - linear.u).square().mean(1).sqrt()
    at = [step for step in AT if step <= config.steps]
    useless = (sure.E >= USEFUL).nonzero().flatten().tolist()
    found = {
        "step": eta,
        "movement": _relative(perceptron.kernel(seen, both, act.slope), n * G),
        "loss": float(run.r[-1].square().mean()),
        "linear": float(linear.mu[-1].square()),
        "distance": distance[at].tolist(),
        "bound": [bound if bound <= perceptron_run.USELESS else -1.0 for bound in sure.E[at].tolist()],
        "certified": useless[0] - 1 if useless else config.steps,
        "switched": float(((seen @ both.mT > 0) != (seen @ torch.cat([w, w]).mT > 0)).double().mean()),
    }
    if relu:
        u = known.linear_run(longest, y, eta, config.steps).u[-1]
        found |= _relu(config, seen, w)
        found |= {"limit": float((run.r[-1] - u).square().mean().sqrt()), "spectrum": spectrum(X, seen, y)}
    return found


def tolerance(config: Config, result: dict) -> dict[str, float]:
    """Counts of signs and of steps are whole numbers, and condition numbers divide by what is near rounding."""
    return {"switched": 0.05, "certified": 0.2, "spectrum": 0.02, "distance": 0.02, "lowest": 0.01}


EXPERIMENT = Experiment(
    name="linearised_attention",
    title="Linearised attention before a two-layer network: kernel, run and certificate at growing width",
    plan=plan,
    compute=compute,
    tolerance=tolerance,
    dtype="float64",
)
