"""The theorems on two layers, each without one hypothesis: few heads, one token or two, closed forms where they exist."""

import math

import torch
from torch import Tensor
from torch.func import jvp

from companion.theory.beyond import bottleneck, tangents, wide, wide_bounds
from companion.theory.beyond.architecture import Blocks
from shallowformer.training import autograd, balls, descent, points, self_bounding

F64 = torch.float64
#: The stream of *deep*, with ρ_c = 3 in its units.
N, RHO_B = 8, 3 * 8**0.5
NAMES = ("B1", "U1", "W1", "c", "U2", "W2")


def _token(*entries: float) -> Tensor:
    """One sequence of one token."""
    return torch.tensor(entries, dtype=F64)[None, None]


def _start(m: int = 4, width: int = N, d: int = 2) -> Blocks:
    return wide.start(width, m, d, torch.Generator().manual_seed(1))


#: The square of an error that is 0 but for rounding is below this.
NOTHING = 1e-20


def _error(X: Tensor, phi: Blocks, delta: Blocks) -> float:
    """|f − f_lin| from the start φ, which need not be symmetric."""
    first = tangents.gap(wide.architecture(phi["B1"].shape[1]), X, phi, delta) - wide.f(X, phi)
    return float(first.abs().max())


def _shift(X: Tensor, phi: Blocks) -> tuple[Tensor, Tensor, Tensor]:
    """ξ, the readings σ(z′) and s of the move of Theorem Z, bottleneck."""
    one = wide.network(phi, 0)
    xi = wide.stream(X, one["B1"], one["U1"], one["W1"])[0, -1]
    read = wide.readings(X, one["U1"], one["W1"])[0, -1]
    return xi, read, RHO_B * read.abs().mean() / (2 * len(xi)) ** 0.5


def _pushed(phi: Blocks, read: Tensor, b: Tensor) -> Blocks:
    """δB_j = (ρ_B/√m) sgn(σ_j) b in the first network."""
    delta, m = points.mapped(torch.zeros_like, phi), len(phi["c"])
    delta["B1"][: m // 2] = RHO_B / m**0.5 * read.sign()[:, None] * b
    return delta


def unread(kept: bool) -> tuple[float, float]:
    """½s²D_s(r²)², and e² averaged over U for b that depends on the first layer (kept), or at right angles to all U_i, too."""
    X, phi = _token(1.0, 0.0), _start()
    xi, read, s = _shift(X, phi)
    floor = float(s**2 * bottleneck.drop(xi.square().sum(), s) ** 2 / 2)
    if kept:
        return floor, float(bottleneck.square(xi.norm()[None], s[None])) / 2
    rows = torch.cat([xi[None], wide.network(phi, 0)["U2"]])
    b = torch.linalg.svd(rows).Vh[-1]
    return floor, max(_error(X, phi, _pushed(phi, read, b)) ** 2, NOTHING)


def copied(kept: bool) -> tuple[float, float]:
    """½s²D_s(r²)², and E e² for independent U_i (kept), or U_2 = U_1 with c = (1, −1) in the network that moves."""
    X, phi = _token(1.0, 0.0), _start()
    xi, _, s = _shift(X, phi)
    floor = float(s**2 * bottleneck.drop(xi.square().sum(), s) ** 2 / 2)
    if kept:
        return floor, float(bottleneck.square(xi.norm()[None], s[None])) / 2
    phi["U2"] = phi["U2"][:1].expand(4, N).clone()
    phi["c"] = torch.tensor([1.0, -1.0, -1.0, 1.0], dtype=F64)
    delta = wide.coherent(X, phi, RHO_B)
    return floor, _error(X, phi, delta) ** 2


def both(kept: bool) -> tuple[float, float]:
    """½s²D_s(r²)², and E e² when the first network moves (kept), or both alike: then e = 0, as they cancel."""
    X, phi = _token(1.0, 0.0), _start()
    xi, _, s = _shift(X, phi)
    floor = float(s**2 * bottleneck.drop(xi.square().sum(), s) ** 2 / 2)
    if kept:
        return floor, float(bottleneck.square(xi.norm()[None], s[None])) / 2
    delta = wide.coherent(X, phi, RHO_B)
    delta["B1"][2:] = delta["B1"][:2]
    return floor, _error(X, phi, delta) ** 2


def along_the_stream(kept: bool) -> tuple[float, float]:
    """|E[R²] − Q(1, 1)| and 10⁻¹⁰ for b at right angles to ξ (kept), or b = ξ: then h = g."""
    g, w = bottleneck._NODES, bottleneck._WEIGHTS
    one, weights = torch.ones(1, dtype=F64), w[:, None] * w
    h = g[None, :] if kept else g[:, None]
    z = g[:, None]
    R = torch.tanh(z + h) - torch.tanh(z) - h / torch.cosh(z) ** 2
    return abs(float((weights * R**2).sum() - bottleneck.square(one, one))), 1e-10


def null_token(kept: bool) -> tuple[float, float]:
    """The floor of every width, 4 heads, and the mean square at its point for a token of length 1 (kept), or 0, where f = 0 everywhere."""
    X = _token(1.0 if kept else 0.0, 0.0)
    seen = []
    for seed in range(40):
        phi = wide.start(N, 4, 2, torch.Generator().manual_seed(seed))
        xi, _, s = _shift(X, phi)
        seen.append(float(bottleneck.square(xi.norm()[None], s[None])) / 2)
    return bottleneck.floor(4, N, RHO_B), sum(seen) / len(seen)


def loud_writers(kept: bool) -> tuple[float, float]:
    """½s²D_s(1 + S)² and the mean of ½Q(‖ξ‖, s) over 40 draws of B, entries of deviation 1 (kept) or 1000, at the same U′."""
    phi, X = _start(), _token(1.0, 0.0)
    _, read, s = _shift(X, phi)
    S = read[:2].square().mean()
    source = torch.Generator().manual_seed(2)
    B = (1.0 if kept else 1000.0) * torch.randn(40, 2, N, generator=source, dtype=F64)
    xi = torch.eye(N, dtype=F64)[0] + torch.einsum("k,bkn->bn", read, B) / (2 * N) ** 0.5
    # over x = rg: R is 0 in double precision where |x| is large
    x, h = torch.linspace(-40, 40, 1601, dtype=F64)[:, None], bottleneck._NODES
    R = torch.tanh(x + s * h) - torch.tanh(x) - s * h / torch.cosh(x) ** 2
    level, r = bottleneck.mean(R**2), xi.norm(dim=1, keepdim=True)
    density = torch.exp(-((x[:, 0] / r) ** 2) / 2) / (r * (2 * math.pi) ** 0.5)
    seen = 0.05 * (density * level).sum(1).mean() / 2
    return float(s**2 * bottleneck.drop(1 + S, s) ** 2 / 2), float(seen)


def widening(kept: bool) -> tuple[float, float]:
    """The limit of the floor for a stream of 8, and the mean of ½Q(‖ξ‖, s) over ten first layers of 256 heads with a stream of 8 (kept), or of 256."""
    source, width, k = torch.Generator().manual_seed(3), N if kept else 256, 128
    read = torch.tanh(torch.randn(10, k, generator=source, dtype=F64))
    B = torch.randn(10, k, width, generator=source, dtype=F64)
    xi = torch.eye(width, dtype=F64)[0] + torch.einsum("bk,bkn->bn", read, B) / (k * width) ** 0.5
    s = RHO_B * read.abs().mean(1) / (2 * width) ** 0.5
    return bottleneck.limit_floor(N, RHO_B), float(bottleneck.square(xi.norm(dim=1), s).mean()) / 2


def narrow(kept: bool) -> tuple[float, float]:
    """What Theorem Z, bottleneck, says of the root mean square of the largest error, for 10²⁰ heads and a stream as wide (kept), or of 8; ½M for a stream as wide."""
    m = 10**20
    norms = wide_bounds.expected(m, m, 2, 1)
    floor = bottleneck.floor(m, m if kept else N, RHO_B)
    return floor**0.5, wide_bounds.constants(norms, (RHO_B, 1.0, 1.0, 1.0, 1.0, 1.0)).M / 2


def _small(first: float, second: float) -> Blocks:
    """One head a network, one number a token, W = 0 in both layers, U′ and U as given, the rest 1."""
    one = torch.ones(2, 1, dtype=F64)
    return {
        "B1": one.clone(),
        "U1": first * one,
        "W1": torch.zeros(2, 1, 1, dtype=F64),
        "c": torch.tensor([1.0, -1.0], dtype=F64),
        "U2": second * one,
        "W2": torch.zeros(2, 1, 1, dtype=F64),
    }


def long_tokens(kept: bool) -> tuple[float, float]:
    """|f''[δ, δ]| at the start and M, δ moving W′ of the first network alone; tokens 0 and 1 (kept), or 0 and 30."""
    long = 1.0 if kept else 30.0
    X = torch.tensor([[[0.0], [long]]], dtype=F64)
    phi = _small(1.3 / long, 1 / long)
    delta = points.mapped(torch.zeros_like, phi)
    delta["W1"][0] = 1 / 2**0.5
    once = lambda p: jvp(lambda q: wide.f(X, q), (p,), (delta,))[1]
    second = jvp(once, (phi,), (delta,))[1]
    M = wide_bounds.constants(wide_bounds.measured(X, phi), [float(n == "W1") for n in NAMES]).M
    return float(second.abs()), M


def far_out(kept: bool) -> tuple[float, float]:
    """|f − f_lin| and ½M for ρ_B = 1, others 0, when B of the first network moves by 1/√2 (kept), or by 100/√2."""
    X, phi = _token(1.0), _small(1.0, 1.0)
    delta = points.mapped(torch.zeros_like, phi)
    delta["B1"][0] = (1.0 if kept else 100.0) / 2**0.5
    M = wide_bounds.constants(wide_bounds.measured(X, phi), [float(n == "B1") for n in NAMES]).M
    return _error(X, phi, delta), M / 2


def chosen_later(kept: bool) -> tuple[float, float]:
    """y₀ and its bound, χ = 3, for one head, d = N = 400 and the token e₁ (kept), or U/‖U‖, chosen when U is known."""
    d, phi = 400, _start(2, 400, 400)
    along = phi["U2"][0] / phi["U2"][0].norm()
    x = torch.eye(d, dtype=F64)[0] if kept else along
    return wide_bounds.measured(x[None, None], phi).y, wide_bounds.expected(2, d, d, 1).y


def _certified(
    size: float, theta: float = 0.5, shrink: float = 1.0, even: bool = True, steps: int = 200
) -> tuple[float, float]:
    """Root of the mean loss and the certificate: 2 heads, one token, label ``size``, radii ``shrink`` times the comparator's reach.

    ``even``: whether the partners' readouts are opposite at the start. A label of 0 takes the radii 10⁻⁶.
    """
    X, phi = _token(1.0, 0.0), _start(2, 2)
    if not even:
        phi["c"] = phi["c"].abs()
    y, model = torch.tensor([size], dtype=F64), wide.architecture(2)
    gram = autograd.Tangent(model.on(X), phi, -y).gram()
    star = autograd.pull_back(model.on(X), phi, torch.linalg.solve(gram, y))
    reach = {name: float(balls.lengths(part).max()) * 2**0.5 for name, part in star.items()}
    # attention with one token does not matter: its blocks get the smallest other radius
    least = min(r for r in reach.values() if r > 0) if size else 1e-6
    rho = [shrink * (reach[name] or least) if size else least for name in NAMES]
    M = wide_bounds.constants(wide_bounds.measured(X, phi), rho).M
    A2 = wide_bounds.gradient(gram.diagonal().sqrt(), M, 2, rho)
    eta, nowhere = theta / A2, points.mapped(torch.zeros_like, phi)
    run = descent.run(
        autograd.Autograd(lambda X, delta: model.outputs(X, points.plus(phi, delta)), X, y),
        nowhere,
        eta=eta,
        steps=steps,
        project=balls.Balls(nowhere, [r / 2**0.5 for r in rho]),
        every=steps,
    )
    V0, eps = float(points.inner(star, star)), 2.5 * M
    if theta < 1:
        bound = self_bounding.bound(eps, V0, eta, steps, theta)
    else:
        # past θ = 1 the printed quotient, where its root exists
        inside = max(eps**2 + (1 - theta) * V0 / (eta * steps), 0.0)
        bound = (eps + math.sqrt(inside)) / (2 * (1 - theta))
    return float(run.step_losses.mean().sqrt()), bound


def long_step(kept: bool) -> tuple[float, float]:
    """Root of the mean loss and the certificate's quotient for θ = ½ (kept), or 3."""
    return _certified(1e-3, theta=0.5 if kept else 3.0)


def out_of_reach(kept: bool) -> tuple[float, float]:
    """The same for radii as long as the comparator's reach (kept), or a thousandth of it."""
    return _certified(1e-3, shrink=1.0 if kept else 1e-3)


def uneven(kept: bool) -> tuple[float, float]:
    """The same for the label 0 (so V₀ = 0 and the comparator is the start) with opposite readouts (kept), or equal ones: f is not 0 at the start."""
    return _certified(0.0, even=kept)
