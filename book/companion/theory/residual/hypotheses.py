"""Controls of the convergence theorems: networks of a few numbers in which one hypothesis is missing and the conclusion fails.

Each returns the left and the right side of the conclusion, without the hypothesis or with it (``kept``). Four networks serve them all.

*One number a block*: one token 1, φ(x) = x, which is smooth with β = 0, V and U such that 1 + V = U = p, W_1 = W_2 = q. The gradients of the
pairs are equal, so the equalities are kept by every step, of any size, and F = p²(1 + q²) never becomes negative.

*A corner*: token (1, 0), two neurons, the second of which has the input 0 at the start.

*Equal tokens*: two, with different targets; every network gives them the same output.

*A blind unembedding*: H = 0 and an error in an output that W_U does not see; all six gradients vanish.
"""

import math
from fractions import Fraction

import torch
from jaxtyping import Float

from companion.theory.residual import admissible, certificates
from companion.theory.residual.path_length import Certificate
from shallowformer.residual import gradients, model
from shallowformer.residual.model import Forward
from shallowformer.residual.parameters import Parameters, Setting
from shallowformer.residual.smoothed import RELU, SmoothedReLU

Sides = tuple[float, float]
SMOOTH = SmoothedReLU(1.0)
PAPER = Setting(1.0, 1.0, SMOOTH)


def matrix(*rows: list[float]) -> Float[torch.Tensor, "rows columns"]:
    """A matrix in float64, row by row."""
    return torch.tensor(rows, dtype=torch.float64)


def six(**blocks: list) -> Parameters:
    """A network by its blocks."""
    return Parameters(**{name: matrix(*rows) for name, rows in blocks.items()})


#: One number a block at the start: p = 3/2, q = 1/2, so F = 45/16, σ_A = 3/4, σ_U = 3/2.
P, Q = Fraction(3, 2), Fraction(1, 2)
F_0, SIGMAS = P**2 * (1 + Q**2), P**2 * Q
J_SQUARE = 2 * (P * (1 + Q**2)) ** 2 + 2 * (P**2 * Q) ** 2
NUMBERS = six(W_Q=[[0.5]], W_K=[[0.5]], W_V=[[0.5]], W_1=[[0.5]], W_2=[[0.5]], W_U=[[1.5]])
TOKEN = matrix([1.0])[None]
TARGET = -1  # of the other sign: an error of 61/16 at the start


def numbers_run(y: float, mu: float, steps: int) -> tuple[float, float]:
    """Φ after so many steps on one number a block, and the length of the path."""
    p, q, length = float(P), float(Q), 0.0
    for _ in range(steps):
        E = p * p * (1 + q * q) - y
        dp, dq = mu * E * (1 + q * q) * p, mu * E * p * p * q
        p, q, length = p - dp, q - dq, length + math.sqrt(2 * dp**2 + 2 * dq**2)
    return (p * p * (1 + q * q) - y) ** 2 / 2, length


def layers() -> Certificate:
    """The certificate by layers on one number a block: φ″ = 0, as for ReLU on its right side."""
    return certificates.by_layers(TOKEN, NUMBERS, Setting(1.0, 1.0, RELU), 0.5, one_sided=True)


def blocks() -> admissible.Constants:
    """The constants of Theorem A on one number a block; they do not contain β."""
    return admissible.constants(TOKEN, NUMBERS, Setting(1.0, 1.0, SmoothedReLU(1e-9)))


def wrong_sign(kept: bool, by_18: bool = False) -> Sides:
    """Φ after 30/(μα) steps against (1 − μα)ᵗΦ_0 (Theorem 1), α = (σ_Aσ_U)²/16, for a target of the other sign or near the output.

    As F ≥ 0 at every step, Φ never falls below ½y². The step may be as small as one likes: what it costs is counted. With the hypothesis,
    fewer steps, μ = 1/50, below 1/L, at nine tenths of the error that Theorem A admits, or condition (18).
    """
    alpha = float(SIGMAS) ** 2 / 16
    if not kept:
        start = (float(F_0) - TARGET) ** 2 / 2
        return TARGET**2 / 2, math.exp(-30) * start
    mu = 1 / 50
    share = (1 - math.sqrt(1 - mu * alpha)) if by_18 else 0.5
    e, steps = 0.9 * share * alpha * blocks().slack, math.ceil(0.2 / (mu * alpha))
    return numbers_run(float(F_0) - e, mu, steps)[0], (1 - mu * alpha) ** steps * e**2 / 2


def wrong_sign_ends(kept: bool) -> Sides:
    """Φ in the end against a thousandth of its start, where a theorem promises that it ends at 0; a target as in ``wrong_sign``.

    The error 10⁻⁵ and the step 1/400 are admitted by Theorem A and by the certificates by layers, the kernel and the unembedding.
    """
    if not kept:
        return TARGET**2 / 2, (float(F_0) - TARGET) ** 2 / 2000
    return numbers_run(float(F_0) - 1e-5, 1 / 400, 4000)[0], 1e-10 / 2000


def far_error(kept: bool) -> Sides:
    """The path against r (Theorem D) for a target so far off that μMe_0 = 2, or at nine tenths of the admitted error; μ = (‖J_0‖ + Mr)⁻².

    With μMe_0 > 1 the left side of the condition is negative, so the condition by itself holds. The path is at least its first step.
    """
    one = layers()
    e = 0.9 * one.error if kept else 2 / (one.mu * one.M_2)
    return numbers_run(float(F_0) - e, one.mu, 2000 if kept else 1)[1], one.r


def long_step(kept: bool) -> Sides:
    """Φ_1 against (1 − μα)Φ_0 (Theorem 1) for μ = 3/‖J_0‖² or 1/(2‖J_0‖²), at an error of 10⁻¹²; exact. In both cases μα < 1."""
    mu, e = Fraction(1 if kept else 6) / (2 * J_SQUARE), Fraction(1, 10**12)
    p, q = P - mu * e * (1 + Q**2) * P, Q - mu * e * P**2 * Q
    after = (p**2 * (1 + q**2) - F_0 + e) ** 2 / 2
    return after, (1 - mu * SIGMAS**2 / 16) * e**2 / 2


def long_step_path(kept: bool) -> Sides:
    """First step against 2e_0/s_0, above the path of Theorem E, (s_0/M)(1 − √(1 − 2Me_0/s_0²)), for μ = 3/s_0² or 1/(2s_0²); s_0 = ‖J_0‖."""
    e, s = 1e-6, math.sqrt(J_SQUARE)
    return (0.5 if kept else 3.0) / s**2 * s * e, 2 * e / s


def step_of_one_over_alpha(kept: bool) -> Sides:
    """e_1 against what Corollary 1 leaves of it, (2/α)(Σc_W²)^{1/2}e_0(1 − μα)^{1/2} times a bound of ‖J‖, for μ = 1/α or μ = 1/(2‖J_0‖²).

    For μ = 1/α the right side is 0: the first iterate would be the limit.
    """
    e, alpha, c = Fraction(1, 10**6), SIGMAS**2 / 16, math.hypot(*blocks().c)
    mu = 1 / (2 * J_SQUARE) if kept else 1 / alpha
    p, q = P - mu * e * (1 + Q**2) * P, Q - mu * e * P**2 * Q
    error = abs(p**2 * (1 + q**2) - F_0 + e)
    return float(error), 10 * 2 / float(alpha) * c * float(e) * math.sqrt(1 - mu * alpha)


# A corner.
CORNERED = six(
    W_Q=[[1.0], [0.0]], W_K=[[1.0], [0.0]], W_V=[[0.0, 0.0], [0.0, 1.0]], W_1=[[1.0, 0.0], [0.0, -3.0]],
    W_2=[[0.0, 0.0], [0.0, 4.0]], W_U=[[1.0], [1.0]],
)  # fmt: skip
CORNER_TOKEN = matrix([1.0, 0.0])[None]


def stepped(
    X: Float[torch.Tensor, "..."],
    Y: Float[torch.Tensor, "..."],
    theta: Parameters,
    setting: Setting,
    mu: float,
) -> Parameters:
    """A step of gradient descent."""
    slope = gradients.gradients(X, Y, theta, setting)
    return Parameters(*(W - mu * D for W, D in zip(theta, slope, strict=True)))


def admitted(X: Float[torch.Tensor, "..."], theta: Parameters, by: str) -> tuple[float, float, float]:
    """Half of the error that a theorem admits at a start, its step, and what it multiplies Φ by at most.

    Args:
        by: "blocks", Theorem A; "18", Theorem 2; "end", Corollary 1, of which a thousandth of Φ is asked; or a certificate, "layers", "kernel", "unembedding", "both", with δ = ½.
    """
    if by not in ("blocks", "18", "end"):
        one = getattr(certificates, f"by_{by}")(X, theta, PAPER, 0.5)
        return 0.5 * one.error, one.mu, one.factor(0.5 * one.error, 0.5 * one.error)
    found = admissible.constants(X, theta, PAPER)
    e = 0.5 * math.sqrt(2 * found.loss_A)
    F, R = model.outputs(X, theta, PAPER), 2 / found.alpha * math.hypot(*found.c) * e
    far = F - e / math.sqrt(F.numel())
    mu = 1 / certificates.smoothness(X, far, theta, PAPER, R)
    if by == "18":
        e *= 1 - math.sqrt(1 - mu * found.alpha)
    return e, mu, 1e-3 ** (1 / 20) if by == "end" else 1 - mu * found.alpha


def corner(kept: bool, by: str) -> Sides:
    """Φ_1 against the theorem's factor times Φ_0, with ReLU (derivative 0 at 0) or the smoothed ReLU of width 1.

    With ReLU let m = μe_0 < 1. The step moves token and W_2 so that F − F_0 = (1 − m)³ − 1 − 2m + m² + 12m ≥ 7m: the error grows, however
    small it is, and however short the step. Ranks are full: A = (1, 0), W_U = (1, 1)ᵀ; no block is 0. The factor below is one that each
    theorem would allow at the least.
    """
    if kept:
        (e, mu, factor), setting = admitted(CORNER_TOKEN, CORNERED, by), PAPER
    else:
        e, mu, setting = 1e-9, 1e-3, Setting(1.0, 1.0, RELU)  # (I0) and (18) hold
        factor = 1 - mu * 2 / 16
    Y = model.outputs(CORNER_TOKEN, CORNERED, setting) - e
    after = model.loss(CORNER_TOKEN, Y, stepped(CORNER_TOKEN, Y, CORNERED, setting, mu), setting)
    return float(after), factor * float(model.loss(CORNER_TOKEN, Y, CORNERED, setting))


# A slope of 1000.
def stretched_certificate(kept: bool, by: str) -> Sides:
    """The path of three steps against r (Theorems D, E and F, part 1; δ = ½) for φ(x) = kx, k = 1000 and W_1 = 1/1000, or k = 1 = W_1.

    One token 1, V = W_2 = 0, U = 1, so A = H = 1, J_0 = (1, 0, 1, 1), φ″ = 0. ℓ_A, ℓ_H and M_2 by the lemmas on first and second derivatives,
    from the sizes of this network; μ = (‖J_0‖ + Mr)⁻² and nine tenths of the admitted error.
    """
    k = 1.0 if kept else 1000.0
    w = 1 / k

    def forms(r: float) -> dict[str, float]:
        """ℓ_A, ℓ_H and M_2 on the ball of radius r, directions (V, W_1, W_2, U)."""
        w_1, w_2, w_U, z = w + r, r, 1 + r, 1 + r
        ell_A = math.hypot(w_1, z)
        on_V, a = 1 + w_1 * w_2, 1 + r * ell_A
        M = torch.zeros(4, 4, dtype=torch.float64)
        M[0, 1:] = torch.tensor([w_U * w_2, w_U * w_1, on_V])
        M[1, 2:], M[2, 3] = torch.tensor([w_U * z, w_2 * z]), a
        return {
            "layers": math.hypot(1.0, ell_A),
            "unembedding": math.hypot(on_V, w_2 * z, a),
            "kernel": float(torch.linalg.eigvalsh(M + M.T)[-1]),
        }

    s = math.sqrt(3) if by == "kernel" else 1.0
    fall = lambda r: forms(r)[by]
    low, high = 0.0, 10.0
    for _ in range(60):
        r = (low + high) / 2
        low, high = (r, high) if r * fall(r) < s / 2 else (low, r)
    M = forms(r)["kernel"]
    mu, most = (math.sqrt(3) + M * r) ** -2, 0.375 * s**2 / fall(r)
    e = 0.9 * (most if by == "kernel" else most / (1 + mu * M * most))
    V, a, U, path = 0.0, 0.0, 1.0, 0.0
    F = lambda: (1 + V) * (1 + k * w * a) * U
    y = F() - e
    for _ in range(3):
        E, on_V = F() - y, (1 + k * w * a) * U
        step = [
            mu * E * d for d in (on_V, (1 + V) * k * a * U, (1 + V) * k * w * U, (1 + V) * (1 + k * w * a))
        ]
        V, w, a, U = V - step[0], w - step[1], a - step[2], U - step[3]
        path += math.hypot(*step)
    return path, r


# Equal tokens, and a blind unembedding.
def equal_tokens(kept: bool, by: str) -> Sides:
    """Φ_20 against the theorem's factors times Φ_0 for two equal tokens with one neuron in one dimension, or two orthogonal tokens with two in two.

    Equal tokens have equal outputs, so targets F ± ε leave Φ at ε², its least value, where all gradients vanish. The hidden layer is a column
    of two equal numbers, with σ_A > 0.
    """
    if kept:
        X = torch.eye(2, dtype=torch.float64)[None]
        theta = six(
            W_Q=[[1.0], [0.0]], W_K=[[0.0], [1.0]], W_V=[[0.1, 0.0], [0.0, 0.1]], W_1=[[3.0, -1.0], [-1.0, 3.0]],
            W_2=[[0.5, 0.1], [0.2, 0.5]], W_U=[[1.0], [1.0]],
        )  # fmt: skip
    else:
        X, theta = matrix([1.0], [1.0])[None], six(**{name: [[0.5]] for name in Parameters._fields})
    return _stalled(X, matrix([1.0], [-1.0])[None], theta, PAPER, kept, by)


def blind(kept: bool, by: str) -> Sides:
    """Φ_20 against the theorem's factors times Φ_0 where H = 0 and W_U has norm 1, with two outputs in one dimension or with one output.

    With two, W_U = (1, 0) and the error is in the second: every gradient contains H or EW_Uᵀ, and both are 0.
    """
    Z = 1.0 + 0.5
    A = float(SMOOTH(torch.tensor(Z * 2.0, dtype=torch.float64)))
    theta = six(
        W_Q=[[1.0]], W_K=[[1.0]], W_V=[[0.5]], W_1=[[2.0]], W_2=[[-Z / A]], W_U=[[1.0]] if kept else [[1.0, 0.0]]
    )  # fmt: skip
    return _stalled(TOKEN, matrix([1.0] if kept else [0.0, 1.0])[None], theta, PAPER, kept, by)


def _stalled(X: torch.Tensor, way: torch.Tensor, theta: Parameters, setting: Setting, kept: bool, by: str) -> Sides:  # fmt: skip
    """Φ_20 and what the theorem leaves of Φ_0, for errors along ``way``."""
    now = model.forward(X, theta, setting)
    if kept:
        e, mu, factor = admitted(X, theta, by)
    else:
        e, mu = 2.0**-40, 2.0**-6  # the left side of (18) is below 10⁻⁵
        factor = 1e-3 ** (1 / 20) if by == "end" else 1 - mu * _constant(now, theta, by) ** 2 / 16
    Y = now.F - e / float(way.norm()) * way
    begin = float(model.loss(X, Y, theta, setting))
    for _ in range(20):
        theta = stepped(X, Y, theta, setting, mu)
    return float(model.loss(X, Y, theta, setting)), factor**20 * begin


def _constant(now: Forward, theta: Parameters, by: str) -> float:
    """The singular value that a theorem asks for, here the only one of a row or column; for both readouts a lower bound."""
    A, U = float(now.A.norm()), float(theta.W_U.norm())
    return {"unembedding": float(now.H.norm()), "both": A * U / 2}.get(by, A * U)


def readout(kept: bool, tall: bool) -> Sides:
    """2σ²_min(A)σ²_min(W_U)Φ against ‖∇_{W_2}Φ‖² (the readout's lemma) at equal tokens (``tall``) or a blind unembedding; kept: one token, one output."""
    X = matrix([1.0], [1.0])[None] if tall and not kept else TOKEN
    U, way = ([[1.0]], [1.0]) if tall or kept else ([[1.0, 0.0]], [0.0, 1.0])
    E = matrix([1.0], [-1.0]) if len(X[0]) == 2 else matrix(way)
    theta = six(W_Q=[[1.0]], W_K=[[1.0]], W_V=[[0.5]], W_1=[[2.0]], W_2=[[1.0]], W_U=U)
    now = model.forward(X, theta, PAPER)
    slope = gradients.gradients(X, now.F - E, theta, PAPER).W_2
    A, W = float(now.A.norm()), float(theta.W_U.norm())
    return 2 * (A * W) ** 2 * float(E.square().sum()) / 2, float(slope.square().sum())
