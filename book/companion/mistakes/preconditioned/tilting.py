"""Mistakes planted in the chapter *Softmax of Gaussians is linear*: what its checks must notice."""

import torch

from companion.mistakes import larger
from companion.theory.preconditioned import ladder
from shallowformer.preconditioned import above, exact, gradients, limit, noise, participation, radius
from shallowformer.verify.mistakes import Mistake, formula, measured, package

_right_means, _right_one = participation.means, participation.one_token
_right_step, _right_gradients = limit.preconditioned, gradients.loss_and_gradients
_right_orthogonal, _right_best = radius.orthogonal, radius.best
_right_threshold = above.at_threshold
_right_ladder, _right_error, _right_constant = ladder._step, limit.error, noise.constant
_right_whitened, _right_limit = limit.whitened, limit.gradients


def _root(B, queries, Sigma):
    """Σ^½q for Σq."""
    values, vectors = torch.linalg.eigh(Sigma)
    return queries @ B @ (vectors * values.clamp(min=0).sqrt()) @ vectors.T


def _five(q, n):
    """5 for 6."""
    P2, P3, square = _right_means(float(q.norm()), [n])[0]
    return P2 * torch.eye(len(q), dtype=q.dtype) + (P2 - 5 * P3 + 5 * square) * torch.outer(q, q)


def _no_shortfall(rho, n):
    """E P₂ taken for E P₂².."""
    found = _right_means(rho, n).clone()
    found[:, 2] = found[:, 0] ** 2
    return found


def _more_concentrated(rho, n):
    """E P₂ too large by 1 %."""
    found = _right_means(rho, n).clone()
    found[:, 0] *= 1.01
    return found


def _one_side(of_A, of_B, Sigma):
    """P⁻¹ on one side of ∇_B."""
    found = _right_step(of_A, of_B, Sigma)
    return found[0], found[1] @ Sigma


def _uncentred(A, B, X, Y, context=None, chunk=None):
    """C without − ẑẑᵀ."""
    loss, of_A, of_B = _right_gradients(A, B, X, Y, context, chunk)
    z = gradients.attended(B, X, X if context is None else context)
    E = z @ A.T - Y
    return loss, of_A, of_B + X.T @ (z * ((E @ A) * z).sum(1, keepdim=True)) / len(X)


def _no_own_factor(first, rest, rho):
    """Derivatives of the other factors forgotten."""
    return _right_ladder(first, [], rho) if not rest else [
        ((*rest, *term), c) for term, c in _right_ladder(first, [], rho)
    ]  # fmt: skip


def _constant(A, B, Sigma):
    """The determinant forgotten."""
    _, B_tilde = limit.whitened(A, B, Sigma)
    one = torch.eye(len(B), dtype=B.dtype)
    return _right_constant(A, B, Sigma) * float(torch.linalg.det(one - 2 * B_tilde @ B_tilde.T)) ** 0.5


def _transposed(A, B, Sigma):
    """B̃ᵀ for B̃."""
    return _right_whitened(A, B.T, Sigma)


def _no_cross_term(A, B, problem):
    """½(‖ÃB̃ᵀ‖² + ‖M̃‖²)."""
    fit, _ = limit.whitened(A, B, problem.Sigma)[0], None
    return (
        (fit @ limit.whitened(A, B, problem.Sigma)[1].T).square().sum() + problem.target.square().sum()
    ) / 2


def _raw_gradients(A, B, problem):
    """Without the last factor B."""
    F = A @ B.T - problem.M
    return F @ problem.Sigma, F.T @ A


def _half_a_gradient(A, B, problem):
    return _right_limit(A, B, problem)[0], 0 * B


def _identity_roots(d: int) -> tuple[float, float]:
    b, least = _right_orthogonal(d)
    return b * (d / (d + 2)) ** 0.5, least


def _balanced(s):
    """K ∝ S at the size of the best."""
    k = _right_best(s)
    return s / s.sum() * k.sum()


def _three_for_all(A, B):
    """3 taken for k + 2."""
    found, power = _right_threshold(A, B)
    k = 2 * (power - 1)
    return found * (k + 2) / 3, power


def _no_rest(A, B):
    """The singular values below the threshold forgotten."""
    rest = torch.linalg.svdvals(B).square()
    return _right_threshold(A, B)[0] * float((1 - 2 * rest[rest < 0.499]).sqrt().prod()), None


_THE_LARGER = formula("1 % more", lambda value, case: 1.01 * value)

#: Check → mistakes that must turn it red.
MISTAKES: dict[str, list[Mistake]] = {
    "pa-lemma-a": [package("the root of Σ", limit, "attended", _root)],
    "pa-lemma-b": [
        package("5 for 6", exact, "second_moment", _five),
        package("the square of a mean", participation, "means", _no_shortfall),
    ],
    "pa-lemma-b-enclosure": [package("1 % more", participation, "means", _more_concentrated)],
    "pa-lemma-b-enclosure/below": [
        package("n for n − 1", participation, "one_token", lambda rho, n: 1.0 / n + _right_one(rho, n)),
        larger(1.01),
    ],
    "pa-lemma-b-enclosure/above": [package("1 % more", participation, "means", _more_concentrated)],
    "pa-lemma-b-enclosure/far": [larger(1.01)],
    "pa-theorem-1": [package("no mixed term", limit, "error", _no_cross_term)],
    "pa-theorem-1/general": [
        package("B transposed", limit, "error", lambda A, B, problem: _right_error(A, B.T, problem))
    ],
    "pa-theorem-1/drawn": [formula("5 % more", lambda value, case: 1.05 * value)],
    "pa-theorem-1/finite": [package("1 % more", participation, "means", _more_concentrated)],
    "pa-theorem-1/self": [measured("its root", lambda value: abs(value) ** 0.5)],
    "pa-proposition-c": [package("one side only", limit, "preconditioned", _one_side)],
    "pa-proposition-c-equivariance": [package("one side only", limit, "preconditioned", _one_side)],
    "pa-theorem-e/formula": [package("no determinant", noise, "constant", _constant)],
    "pa-theorem-e/every-query": [
        package("1 % more", participation, "means", _more_concentrated),
        larger(1.01),
    ],
    "pa-theorem-e": [package("no determinant", noise, "constant", _constant), _THE_LARGER],
    "pa-theorem-e/drawn": [formula("4 % more", lambda value, case: 1.04 * value)],
    "pa-theorem-e-above": [measured("5 % more", lambda value: value**1.08)],
    "pa-theorem-e-above/plane": [
        measured("1 % more", lambda value: value**1.016),
        package("no whitening", limit, "whitened", lambda A, B, Sigma: (A, B)),
    ],
    "pa-theorem-e-above/blind": [
        measured("1 % more", lambda value: value**1.016),
        package("no whitening", limit, "whitened", lambda A, B, Sigma: (A, B)),
        package("B transposed", limit, "whitened", _transposed),
    ],
    "pa-theorem-e-above/square": [package("1/(2b²)", above, "exponent", lambda b: 1 / (2 * b**2))],
    **{
        f"pa-theorem-e-above/b-{name}": [measured("5 % more", lambda value: value**1.08)]
        for name in (8, 12, 15, 20)
    },
    "pa-proposition-f": [larger(1.01)],
    "pa-proposition-f/minimiser": [_THE_LARGER],
    "pa-proposition-f-isotropic": [package("1/√d", radius, "orthogonal", _identity_roots)],
    "pa-lemma-a-limit": [formula("transposed", lambda value, case: value.T)],
    "pa-lemma-a-limit/supremum": [formula("10 % more", lambda value, case: 1.1 * value)],
    "pa-lemma-b-ladder": [package("other factors forgotten", ladder, "_step", _no_own_factor)],
    "pa-proposition-d": [package("not centred", gradients, "loss_and_gradients", _uncentred)],
    "pa-proposition-d-decomposition": [package("not centred", gradients, "loss_and_gradients", _uncentred)],
    "pa-theorem-1-gradient": [
        package("a factor lost", limit, "gradients", _raw_gradients),
        package("B transposed", limit, "gradients", lambda A, B, problem: _right_limit(A, B.T, problem)),
        package("∇_B lost", limit, "gradients", _half_a_gradient),
    ],
    **{
        f"pa-theorem-e-gap{part}": [measured("5 % more", lambda value: value**1.05)]
        for part in ("", "/b-5", "/b-3")
    },
    "pa-theorem-e-threshold": [
        package("2/3 for 4/3", above, "at_threshold", lambda A, B: (0.20474 / 2**1.5, 1.5)),
        package("3 for k + 2, right at k = 1", above, "at_threshold", _three_for_all),
        package("left singular vectors", above, "at_threshold", lambda A, B: _right_threshold(A, B.T)),
        package("no determinant", above, "at_threshold", _no_rest),
        formula("2 % more", lambda value, case: 1.02 * value),
    ],
    "pa-theorem-e-self": [formula("4 % more", lambda value, case: 1.04 * value)],
    "pa-proposition-f-gauge": [package("balanced", radius, "best", _balanced)],
    "pa-proposition-f-gauge/all": [
        package("balanced, 5 % more", radius, "value", lambda s, k: 20.0),
        larger(1.01),
    ],
}
