"""Controls of the factorisation problem and of descent on it: factors of one or two columns, λ = ½ unless said.

Off the optimum of a target 1: *balanced*, U = V = 1 + ε; *unbalanced*, U = 1 + ε, V = 1 − ε; *spare*, a second column ε for U and −ε for V, which
square factors do not have; *unseen*, a second row ε of U that the target does not have.
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor

from shallowformer.preconditioned import factorisation, flow

Sides = tuple[float, float]
ONE = torch.ones(1, 1, dtype=torch.float64)
SMALL = 0.01


def rows(*values: list[float]) -> Float[Tensor, "rows columns"]:
    """A matrix in float64."""
    return torch.tensor(values, dtype=torch.float64)


def near(which: str) -> tuple[Float[Tensor, "m r"], Float[Tensor, "d r"], Float[Tensor, "m d"]]:
    """Factors off the optimum of a target 1 by 1/100, in a way that the head of the module names, and the target."""
    e = SMALL
    return {
        "balanced": (ONE * (1 + e), ONE * (1 + e), ONE),
        "unbalanced": (ONE * (1 + e), ONE * (1 - e), ONE),
        "spare": (rows([1.0, e]), rows([1.0, -e]), ONE),
        "unseen": (rows([1.0], [e]), ONE, rows([1.0], [0.0])),
    }[which]


def value(
    U: Float[Tensor, "m r"], V: Float[Tensor, "d r"], M: Float[Tensor, "m d"], lam: float = 0.5
) -> float:
    """The objective f_λ."""
    return float(factorisation.value(U, V, M, lam))


def squared_slope(
    U: Float[Tensor, "m r"], V: Float[Tensor, "d r"], M: Float[Tensor, "m d"], lam: float = 0.5
) -> float:
    """‖∇f_λ‖²."""
    return sum(float(part.square().sum()) for part in factorisation.gradient(U, V, M, lam))


def stepped(
    U: Float[Tensor, "m r"], V: Float[Tensor, "d r"], M: Float[Tensor, "m d"], eta: float, lam: float = 0.5
) -> tuple[Float[Tensor, "m r"], Float[Tensor, "d r"]]:
    """A step of descent."""
    G, H = factorisation.gradient(U, V, M, lam)
    return U - eta * G, V - eta * H


# Stationary points.
def unbalanced_minimum(kept: bool) -> Sides:
    """Whether "stationary" and "balanced, of singular vectors" differ, 1 or 0, at U = 2, V = ½ for the target 1, with λ = 0 or ½."""
    stationary = squared_slope(2 * ONE, ONE / 2, ONE, 0.5 if kept else 0.0) == 0
    return int(stationary), 0


def flat_saddle(kept: bool) -> Sides:
    """Least Hessian eigenvalue against −s_2 = −1 for s = (2, 1): U = [√2 p_1, 10 p_1], V = [√2 q_1, 0], stationary for λ = 0; or without the 10, λ = ½."""
    far = 0.0 if kept else 10.0
    U, V = rows([2**0.5, far], [0.0, 0.0]), rows([2**0.5, 0.0], [0.0, 0.0])
    H = factorisation.hessian(U, V, rows([2.0, 0.0], [0.0, 1.0]), 0.5 if kept else 0.0)
    return float(torch.linalg.eigvalsh(H)[0]), -1.0 + 1e-12


def narrow_saddle(kept: bool) -> Sides:
    """Least Hessian eigenvalue against −s_2 = −1 for s = (1.2, 1) at the point that keeps the second pair only, with one column or with two."""
    U = rows([0.0, 0.0], [1.0, 0.0]) if kept else rows([0.0], [1.0])
    H = factorisation.hessian(U, U, rows([1.2, 0.0], [0.0, 1.0]), 0.5)
    return float(torch.linalg.eigvalsh(H)[0]), -1.0


def two_minima(kept: bool) -> Sides:
    """|Difference of the condition numbers at two minima| against 0 (10⁻⁹), s = (2, 1): U = I, V = S for λ = 0, or turned by 3/5, 4/5 for λ = ½."""
    S = rows([2.0, 0.0], [0.0, 1.0])
    W, O = S.sqrt(), rows([0.6, -0.8], [0.8, 0.6])
    other = (W @ O, W @ O) if kept else (torch.eye(2).double(), S)
    numbers = []
    for U, V in ((W, W), other):
        h = torch.linalg.eigvalsh(factorisation.hessian(U, V, S, 0.5 if kept else 0.0))
        h = h[h > 1e-9]
        numbers.append(float(h[-1] / h[0]))
    return abs(numbers[0] - numbers[1]), 1e-9


def spare_and_unseen(kept: bool) -> Sides:
    """Zero eigenvalues at the minimum against the dimension of the set of minima, rk − k(k + 1)/2 = 1, k = 1, r = 2: m = 2, d = 1, or m = d = 1."""
    U, M = (rows([1.0, 0.0]), ONE) if kept else (rows([1.0, 0.0], [0.0, 0.0]), rows([1.0], [0.0]))
    h = torch.linalg.eigvalsh(factorisation.hessian(U, rows([1.0, 0.0]), M, 0.5))
    return int((h.abs() < 1e-12).sum()), 1


# The PL inequality, descent, and its factor in the end; s_1 = s_d = 1.
def pl(kept: bool, which: str, lam: float = 0.5) -> Sides:
    """4(s_d − √(2f))f against ‖∇f‖², off the optimum in a way that square factors or λ = ½ do not have, or unbalanced with λ = ½."""
    point, lam = (near("unbalanced"), 0.5) if kept else (near(which), lam)
    f = value(*point, lam)
    return 4 * (1 - math.sqrt(2 * f)) * f, squared_slope(*point, lam) * (1 + 1e-9)


def descent(kept: bool, which: str, lam: float = 0.5) -> Sides:
    """f_1 against (1 − 4η(1 − ηL/2)(s_d − √(2f)))f for η = 1/100, L = 2s_1 + 3√(2f), at the points of ``pl``."""
    point, lam = (near("unbalanced"), 0.5) if kept else (near(which), lam)
    f, eta = value(*point, lam), 0.01
    L, room = 2 + 3 * math.sqrt(2 * f), 1 - math.sqrt(2 * f)
    return value(*stepped(*point, eta, lam), point[2], lam), (1 - 4 * eta * (1 - eta * L / 2) * room) * f


def from_the_saddle(kept: bool) -> Sides:
    """Value f after 500 steps of 1/10 against a thousandth of f_0, from U = V = 0, where f = ½s_d², or from U = V = 1/10, below it."""
    U = V = ONE * (0.1 if kept else 0.0)
    begin = value(U, V, ONE)
    for _ in range(500):
        U, V = stepped(U, V, ONE, 0.1)
    return value(U, V, ONE), begin / 1000


def too_long(kept: bool) -> Sides:
    """The largest f of steps 31 to 50 against f_0, from the balanced point, for η = 3/2 (2/L is below 1) or ¼, below 1/(2s_1 + 1.5s_d) = 2/7."""
    U, V, M = near("balanced")
    begin, late = value(U, V, M), []
    for _ in range(50):
        U, V = stepped(U, V, M, 0.25 if kept else 1.5)
        late.append(value(U, V, M))
    return max(late[30:]), begin


def factor(kept: bool, which: str, lam: float = 0.5) -> Sides:
    """f_{t+1}/f_t after 20 or 100 steps of 1/10 against q² = 0.64, up to 10⁻³, from the points of ``pl``."""
    (U, V, M), lam = (near("balanced"), 0.5) if kept else (near(which), lam)
    steps = 20 if kept else 100
    for _ in range(steps):
        U, V = stepped(U, V, M, 0.1, lam)
    return value(*stepped(U, V, M, 0.1, lam), M, lam) / value(U, V, M, lam), 0.64 + 1e-3


def into_the_saddle(kept: bool) -> Sides:
    """f_{t+1}/f_t after 20 steps of 1/10 against q² = 0.64 from U = −V = ½, which ends at the saddle, or from the balanced point."""
    U, V, M = near("balanced") if kept else (ONE / 2, -ONE / 2, ONE)
    for _ in range(20):
        U, V = stepped(U, V, M, 0.1)
    return value(*stepped(U, V, M, 0.1), M) / value(U, V, M), 0.64 + 1e-3


# Biased descent: on the slice, x⁺ = x − η(½(x² − 2)x + δ), f = (x² − 2)²/8.
def carried(kept: bool) -> Sides:
    """Value f after 4000 steps of 1/10 from the optimum against δ²/(2s_d), for δ² = 0.3 > 8/27, or ¼; the adversary stops at the saddle."""
    delta, x, eta = (0.5 if kept else math.sqrt(0.3)), math.sqrt(2), 0.1
    for _ in range(4000):
        x = max(0.0, x - eta * (0.5 * (x * x - 2) * x + delta))
    return (x * x - 2) ** 2 / 8, delta**2 / 2


def above_the_barrier(kept: bool) -> Sides:
    """Value f after 4000 steps against the start's value f̄, for δ² = 0.1, from f̄ = 0.45, above the barrier, or 0.3, between floor and barrier."""
    return carried_from(0.3 if kept else 0.45), (0.3 if kept else 0.45)


def carried_from(f: float) -> float:
    """Where the adversary with δ² = 0.1 brings f."""
    x = math.sqrt(2 - 2 * math.sqrt(2 * f))
    for _ in range(4000):
        x = max(0.0, x - 0.1 * (0.5 * (x * x - 2) * x + math.sqrt(0.1)))
    return (x * x - 2) ** 2 / 8


def to_and_fro(kept: bool) -> Sides:
    """The largest f of the last of 2000 steps against δ²/(2s_d), δ = 1/100, for η = 3/4 or 1/4, and a bias that always points away from the optimum."""
    eta, delta, x, top = (0.25 if kept else 0.75), 0.01, math.sqrt(2), 0.0
    for t in range(2000):
        slope = 0.5 * (x * x - 2) * x
        ahead = x - eta * slope
        x = ahead + eta * delta * (1 if ahead >= math.sqrt(2) else -1)
        top = max(top, (x * x - 2) ** 2 / 8) if t > 1000 else top
    return top, delta**2 / 2


def held(kept: bool, which: str) -> Sides:
    """Value f where a bias of δ = 1/1000 holds it, along a spare column or an unseen row, or along U + V, against the root f⁻ of ψ(f) = δ², up to 1 %.

    Or f_λ at λ = 1/8, along U − V.
    """
    delta, lam = 1e-3, 0.125 if which == "weak" and not kept else 0.5
    U, V, M, *push = {
        "spare": (rows([1.0, 0.0]), rows([1.0, 0.0]), ONE, rows([0.0, 1.0]), rows([0.0, -1.0])),
        "unseen": (rows([1.0], [0.0]), ONE, rows([1.0], [0.0]), rows([0.0], [1.0]), 0 * ONE),
        "weak": (ONE, ONE, ONE, ONE, -ONE),
        "square": (ONE, ONE, ONE, ONE, ONE),
    }["square" if kept else which]
    size = math.sqrt(sum(float(part.square().sum()) for part in push))
    for _ in range(2000):
        G, H = factorisation.gradient(U, V, M, lam)
        U, V = U - 0.1 * (G - delta / size * push[0]), V - 0.1 * (H - delta / size * push[1])
    low, high = 0.0, 0.1
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if 4 * (1 - math.sqrt(2 * middle)) * middle < delta**2 else (low, middle)
    return value(U, V, M, lam), 1.01 * high


# Flow, and almost every start.
def slow_flow(kept: bool, which: str) -> Sides:
    """f(10)/f(5) of gradient flow against e^{−15}, for e^{−4s_dt} would leave e^{−20}: off along an unseen row or a spare column, or balanced."""
    U, V, M = near("balanced" if kept else which)
    at = flow.solve(U, V, M, [5.0, 10.0])
    early, late = (value(*factors, M) for factors in at)
    return late / early, math.exp(-15)


def weak_regulariser(kept: bool) -> Sides:
    """‖Y‖_F at time 5 against its bound for the flow of f_λ from the unbalanced point, λ = 1/8 or ½: by 50 000 short steps; q ≤ 1."""
    U, V, _ = near("unbalanced")
    begin = float((U - V).norm()) / math.sqrt(2)
    u, v, h, lam = float(U), float(V), 1e-4, 0.5 if kept else 0.125
    for _ in range(50_000):
        D, C = u * v - 1, u * u - v * v
        u, v = u - h * (D * v + lam * u * C), v - h * (D * u - lam * v * C)
    return abs(u - v) / math.sqrt(2), begin * math.exp(-5.0) * 1.01


def determinant_elsewhere(kept: bool) -> Sides:
    """½s_d² against f_λ at time 30 of the flow from X_0 = diag(1, 0), Y_0 = [[0, ½], [½, ½]], det X_0 = 0, for λ = 2 or ½; s = (2, 1).

    In rotated coordinates X' = SX − XW/2 − (λ − ½)YC with C = XᵀY + YᵀX: at λ = ½ the second row of X stays 0, for others YC fills it.
    """
    S, more = rows([2.0, 0.0], [0.0, 1.0]), 0.0 if kept else 1.5
    X, Y = rows([1.0, 0.0], [0.0, 0.0]), rows([0.0, 0.5], [0.5, 0.5])
    for _ in range(6000):
        W, C = X.T @ X + Y.T @ Y, X.T @ Y + Y.T @ X
        dX, dY = S @ X - X @ W / 2 - more * Y @ C, -S @ Y - Y @ W / 2 - more * X @ C
        X, Y = X + 0.005 * dX, Y + 0.005 * dY
    root = math.sqrt(2)
    return 0.5, value((X + Y) / root, (X - Y) / root, S, 0.5 + more) + 1e-9


def diverging(kept: bool) -> Sides:
    """Value f in the end against f_0 for η = ½ and the target 1: from U = V = 3, where ‖Z‖² = 18 > 2s_1 + 4/η = 10, after three steps, or from 1.1, after 30.

    The factors grow from an open set of starts. At U = V = 3 the condition asks for η below 1/13, at 1.1 for η below 0.76.
    """
    U = V = ONE * (1.1 if kept else 3.0)
    begin = value(U, V, ONE)
    for _ in range(30 if kept else 3):
        U, V = stepped(U, V, ONE, 0.5)
    return value(U, V, ONE), begin
