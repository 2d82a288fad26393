"""What the theory of preconditioned attention says of a run: a tilted Gaussian forecasts (``tilted``), biased descent with a computed bias proves.

Symbols as in ``tilted``. Because Σ̂ and M̂ are those of the data, mean ω_i g_iᵀ = 0, and 𝓛_n = ½ mean |Fg_i + Ãe_i − ω_i|² with
F = ÃB̃ᵀ − T, exactly.

*Theorem* (world "preconditioned"), whatever the data. ‖B̃‖₂ = b at every step, so |q_i| ≤ b|g_i|. This bounds the
bias δ of the algorithm's direction (``direction``). As long as it is small, the run stays in a ball around descent of f (``Tube``); from where
that ball, or the start, is below the saddles, f falls by pa-theorem-q, step by step (``fallen``). (2𝓛_n)^½ is (|F|² + |ω|²)^½ up to
(mean |Ãe_i|²)^½, Minkowski. Plain steps do not hold ‖B̃‖, so "regression" has no theorem.
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor

from companion.theory.one_layer.direction import ORDERS, Reach, bias, rms, softmax
from companion.theory.one_layer.prediction import Prediction
from companion.theory.one_layer.problem import Problem, checkpoints
from companion.theory.one_layer.run import factors
from companion.theory.one_layer.tilted import Whitened, forecast
from companion.theory.preconditioned import biased
from shallowformer.preconditioned import bounds, noise

#: What the theorem rests on.
THEOREM = ("pa-proposition-d-decomposition", "pa-lemma-m", "pa-theorem-n", "pa-theorem-q")


def predict(problem: Problem) -> list[Prediction]:
    """What the theory says of a run in the worlds "regression" and "preconditioned", at radii below 2^{−½}; nothing elsewhere."""
    if not at_home(problem):
        return []
    data = Whitened.of(problem)
    if not float(torch.linalg.matrix_norm(data.B, 2)) < noise.THRESHOLD:
        return []
    said = [forecast(problem, data)]
    if problem.switches.rule == "preconditioned":
        said += theorem(problem, data)
    return said


def at_home(problem: Problem) -> bool:
    """Whether the layer is that of the theory: shared heads, identity, squared loss, C = √m I, U and W trained, queries that are the context, n > d."""
    switches, n, d = problem.switches, *problem.q.shape
    eye = problem.m**0.5 * torch.eye(problem.m, dtype=problem.X.dtype)
    return (
        (switches.heads, switches.activation, switches.loss, switches.skip)
        == ("shared", "identity", "squared", 0.0)
        and switches.rule in ("plain", "preconditioned")
        and set(switches.trained) == set("UW")
        and problem.X.shape[1] == n > d
        and torch.equal(problem.start["C"], eye)
        and all(bool(problem.start[name].any()) for name in "UW")
        and bool((problem.q == problem.X).all())
        and bool(torch.linalg.eigvalsh(problem.q.T @ problem.q / n)[0] > 1e-9)
    )


def fallen(level: float, delta: float, s: Float[Tensor, " d"], eta: float) -> float:
    """A bound of f after a step from f ≤ level, off by at most δ: level − ½η(ψ(level) − δ²) by pa-theorem-q, infinite where it is silent."""
    least = float(s[-1])
    if not (least > 0 and level < least**2 / 2 and delta < biased.most_bias(s)):
        return math.inf
    floor, barrier = biased.floor_and_barrier(s, delta)
    if not (level < barrier and eta < bounds.step(s, max(level, floor))):
        return math.inf
    return level - eta / 2 * (bounds.pl_constant(s, level) * level - delta**2)


class Tube:
    """The descent of f from the same start, ζ_t, and r_t ≥ ‖(U_t, V_t) − ζ_t‖: r ↦ κr + ηδ, κ ≥ ‖I − η∇²f‖ on the ball around ζ.

    With Z = (U; V), M̂ = (0, T; Tᵀ, 0), N = ZZᵀ − 2M̂ and h = 2‖Z‖r + r²: ½λ_min(N) − ½h ≤ ∇²f ≤ ½(‖Z‖ + r)² + λ_max(ZZᵀ − M̂) + h there
    (proof of pa-lemma-m).
    """

    def __init__(
        self,
        start: tuple[Float[Tensor, "d d"], Float[Tensor, "d d"]],
        target: Float[Tensor, "d d"],
        eta: float,
    ) -> None:
        """Begin."""
        self.U, self.V = start
        self.target, self.eta, self.r = target, eta, 0.0
        zero = torch.zeros_like(target)
        self.cross = torch.cat([torch.cat([zero, target], 1), torch.cat([target.T, zero], 1)])
        self._look()

    def _look(self) -> None:
        norm = lambda W: float(torch.linalg.matrix_norm(W, 2))
        self.D = self.U @ self.V.T - self.target
        self.C = self.U.T @ self.U - self.V.T @ self.V
        self.norms = norm(self.U), norm(self.V)
        self.F = float(self.D.norm())
        self.root = math.hypot(self.F, float(self.C.norm()) / 2)  # (2f)^½

    def moved(self) -> float:
        """By how much UVᵀ, and half of UᵀU − VᵀV, may be off."""
        return math.hypot(*self.norms) * self.r + self.r**2 / 2

    def reach(self) -> Reach:
        """Where the run can be."""
        return Reach(self.norms[0] + self.r, self.norms[1] + self.r, self.F + self.moved())

    def level(self) -> float:
        """A bound of f."""
        return (self.root + 2**0.5 * self.moved()) ** 2 / 2

    def step(self, delta: float) -> None:
        """One step of both."""
        Z = torch.cat([self.U, self.V])
        size, square = float(torch.linalg.matrix_norm(Z, 2)), Z @ Z.T
        h = 2 * size * self.r + self.r**2
        least = (float(torch.linalg.eigvalsh(square - 2 * self.cross)[0]) - h) / 2
        most = (size + self.r) ** 2 / 2 + float(torch.linalg.eigvalsh(square - self.cross)[-1]) + h
        self.r = max(1 - self.eta * least, self.eta * most - 1) * self.r + self.eta * delta
        of_U, of_V = self.D @ self.V + self.U @ self.C / 2, self.D.T @ self.U - self.V @ self.C / 2
        self.U, self.V = self.U - self.eta * of_U, self.V - self.eta * of_V
        self._look()


#: From this r on the tube is left.
WIDE = 0.5


def theorem(problem: Problem, data: Whitened) -> list[Prediction]:
    """A tube around the descent of f, and biased descent below the saddles, both with the computed bias; nothing if all that is known is the start."""
    method, start = factors(problem)
    n, (k, d) = len(data.y), data.T.shape
    if k != d or d not in ORDERS:
        return []
    s, off = method.moments.singular_values, softmax(data, method.radius)
    omega, rest = float(torch.linalg.matrix_norm(data.omega, 2)) / n**0.5, rms(data.omega.norm(dim=1))
    tube, level, settled = Tube(start, data.T, problem.eta), math.inf, False
    at, sides = checkpoints(problem.steps), []
    for step in range(problem.steps + 1):
        reach, low = Reach(math.inf, math.inf, math.inf), 0.0
        if tube is not None:
            level, reach, low = min(level, tube.level()), tube.reach(), max(0.0, tube.F - tube.moved())
        if math.isfinite(level):
            w, F = math.sqrt(float(s[0]) + math.sqrt(10 * level)), math.sqrt(2 * level)
            reach = Reach(min(reach.U, w), min(reach.V, w), min(reach.F, F))
        if not math.isfinite(reach.F):
            break
        delta, a = bias(reach, omega, method.radius, off)
        if step in set(at):
            sides.append((max(0.0, math.hypot(low, rest) - a) ** 2, (math.hypot(reach.F, rest) + a) ** 2))
        if tube is not None or not settled:
            before, level = level, fallen(level, delta, s, problem.eta)
            # Where f falls no more the level set is kept for ever.
            settled = tube is None and 0 <= before - level <= 1e-9 * before
        if tube is not None:
            tube.step(delta)
            tube = tube if tube.r < WIDE else None
    if len(sides) < 2:
        return []
    sides += [(0.0, math.inf)] * (len(at) - len(sides))
    low, high = (torch.tensor(sides, dtype=torch.float64) / data.trivial).unbind(1)
    high = high.nan_to_num(torch.inf, torch.inf)
    low[0] = high[0] = problem.loss(problem.outputs(problem.start))  # the start is known
    return [Prediction("preconditioned", "theorem", "loss", tuple(at), low, high, THEOREM)]
