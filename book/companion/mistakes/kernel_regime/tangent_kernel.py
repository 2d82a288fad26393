"""Mistakes planted in the chapter *The Transformer's tangent kernel*: what its checks must notice."""

from dataclasses import replace

import torch
from scipy.special import ive

from shallowformer import softmax
from shallowformer.kernel_regime.kernel import tangent_kernel
from shallowformer.kernel_regime.model import gradients
from shallowformer.kernel_regime.model.parameters import Parameters
from shallowformer.verify.mistakes import Mistake, formula, package

_right_finite = tangent_kernel.finite
_right_diagonal = tangent_kernel.diagonal
_right_head = gradients._head_quantities


def _finite_without_c(X, phi, *args, **options):
    """The tangent kernel with c_i² = 1, which holds at initialisation only."""
    return _right_finite(X, Parameters(torch.ones_like(phi.c), phi.U, phi.W), *args, **options)


def _finite_without_sign(*args, **options):
    """The attention block with |⟨q, q′⟩|, in one dimension."""
    right = _right_finite(*args, **options)
    return tangent_kernel.Blocks(right.c, right.u, right.w.abs())


def _finite_without_attention(*args, **options):
    right = _right_finite(*args, **options)
    return tangent_kernel.Blocks(right.c, right.u, 0 * right.w)


def _diagonal_without_attention(*args, **options):
    right = _right_diagonal(*args, **options)
    return tangent_kernel.Blocks(right.c, right.u, 0 * right.w)


def _finite_with_more_attention(*args, **options):
    right = _right_finite(*args, **options)
    return tangent_kernel.Blocks(right.c, right.u, 1.03 * right.w)


def _gaussian_mean(function):
    x = torch.linspace(-9, 9, 181, dtype=torch.float64)
    return function(x) @ torch.softmax(-(x**2) / 2, 0)


def _kernel_without_p(a, M, sigma):
    """E[κ | W] as if MU and ⟨U, a⟩ were independent."""
    t = a.square().sum()
    slopes = lambda x: sigma.first(t.sqrt() * x) ** 2
    return _gaussian_mean(lambda x: sigma(t.sqrt() * x) ** 2 + slopes(x) * (t + M.square().sum()))


def _moment_without_variance(X, lam):
    """(E[κ² | W])^{1/2} as if ‖MU‖² were its mean given ⟨U, a⟩."""
    alpha = torch.softmax((X @ lam[..., None])[..., 0], -1)
    a, M = softmax.mean(X, alpha), softmax.covariance(X, alpha)
    t = a.square().sum(-1, keepdim=True)
    p = (M @ a[..., None]).square().sum((-2, -1))[:, None] / t
    trace = M.square().sum((-2, -1))[:, None]

    def square(x):
        h2 = torch.tanh(t.sqrt() * x) ** 2
        return (h2 + (1 - h2) ** 2 * (t + trace + (x**2 - 1) * p)) ** 2

    return _gaussian_mean(square).sqrt()


def _one_direction(d):
    """E[σ′² A²/r²]: what one direction across λ has of the attention block of a long sequence."""
    r = torch.linspace(1e-3, 12, 1000, dtype=torch.float64)[:, None]
    A = torch.from_numpy(ive(d / 2, r.numpy()) / ive(d / 2 - 1, r.numpy()))
    given = _gaussian_mean(lambda x: (1 - torch.tanh(A * x) ** 2) ** 2 * (A / r) ** 2)
    return given @ torch.softmax((d - 1) * r.log() - r**2 / 2, 0)[:, 0]


def _pair_in_the_plane(s, factor=None, together=None):
    """k_∞(s) for d = 2 with another factor in front of the attention block, or another cross-covariance."""
    x = torch.linspace(-5, 5, 15, dtype=torch.float64)
    plane = torch.cartesian_prod(x, x)
    weight = torch.softmax(-plane.square().sum(-1) / 2, 0)
    r = torch.linspace(0.1, 5.5, 28, dtype=torch.float64)  # midpoints
    first = torch.stack([r, 0 * r], -1)[:, None, None]
    together = s if together is None else together
    second = together * first + (1 - together**2) ** 0.5 * plane[:, None]

    def head(lam):
        length = lam.norm(dim=-1, keepdim=True)
        A = torch.from_numpy(ive(1, length.numpy()) / ive(0, length.numpy()))
        e = lam / length
        along = (plane * e).sum(-1, keepdim=True) * e
        MU = (1 - A**2 - A / length) * along + A / length * (plane - along)
        return torch.tanh((A * e * plane).sum(-1)), A * e, MU

    (h, a, MU), (k, b, NU) = head(first), head(second)
    factor = s if factor is None else factor
    kappa = h * k + (1 - h**2) * (1 - k**2) * ((a * b).sum(-1) + factor * (MU * NU).sum(-1))
    return kappa @ weight @ weight @ torch.softmax(r.log() - r**2 / 2, 0)


def _head_with_positions(X, U, W, q):
    """A model that knows where in the sequence a token stands."""
    T = X.shape[1]
    return _right_head(X * torch.linspace(1, 0.5, T, dtype=X.dtype)[:, None], U, W, q)


#: Check → mistakes that must turn it red.
MISTAKES: dict[str, list[Mistake]] = {
    "kr-lemma-4": [
        formula("⟨q, q′⟩ on the wrong block", lambda value, case: (value[0], value[1] * (case["q"] @ case["q"].T), value[2])),
        formula("1/m lost", lambda value, case: tuple(block * len(case["c"]) for block in value)),
        package("c_i² taken for 1", tangent_kernel, "finite", _finite_without_c),
    ],
    "kr-lemma-4/printed": [formula("with the m that is missing", lambda value, case: tuple(block * len(case["c"]) for block in value))],
    "kr-lemma-4/limit": [
        package("the sign of ⟨q, q′⟩ lost", tangent_kernel, "finite", _finite_without_sign),
        package("an attention block 3 % too large", tangent_kernel, "finite", _finite_with_more_attention),
    ],
    "kr-lemma-4-rate": [
        package("no attention block", tangent_kernel, "finite", _finite_without_attention),
    ],
    "kr-lemma-4-rate/integral": [formula("‖MU‖² without its variance", lambda value, case: _moment_without_variance(**case))],
    "kr-remark-8": [package("no attention block", tangent_kernel, "diagonal", _diagonal_without_attention)],
    "kr-remark-8-scaling/features": [formula("one of the two matrices", lambda value, case: value / 2)],
    "kr-remark-8-scaling/uniform": [
        Mistake("another limit", lambda check: replace(check, measure=lambda k, seed: check.measure(k, seed) + 0.01)),
    ],
    "kr-remark-8-scaling/canonical": [
        Mistake("another limit", lambda check: replace(check, measure=lambda k, seed: check.measure(k, seed) + 0.01)),
    ],
    "kr-lemma-4-sharp/integral": [formula("p left out", lambda value, case: _kernel_without_p(**case))],
    "kr-lemma-4-long": [formula("d for d − 1", lambda value, case: (value[0], value[1] - value[2], value[2]))],
    "kr-lemma-4-long/diagonal": [formula("d for d − 1", lambda value, case: value + _one_direction(case["d"]))],
    "kr-lemma-4-long/pairs": [
        formula("the factor s squared", lambda value, case: _pair_in_the_plane(case["s"], factor=case["s"] ** 2)),
        formula("no cross-covariance", lambda value, case: _pair_in_the_plane(case["s"], together=0.0)),
        formula("the attention block 3 % too large", lambda value, case: _pair_in_the_plane(case["s"], factor=1.03 * case["s"])),
    ],
    "kr-lemma-4-singular": [package("a position in the sequence", gradients, "_head_quantities", _head_with_positions)],
    "kr-lemma-4-singular/descent": [
        Mistake("η for 2η", lambda check: replace(check, formula=lambda eta, **case: check.formula(eta=eta / 2, **case))),
    ],
    "kr-lemma-4-null": [
        formula("mirror twins taken for new inputs", lambda value, case: value + case["mirrors"]),
        package("a position in the sequence", gradients, "_head_quantities", _head_with_positions),
    ],
    "kr-lemma-4-null/labels": [
        Mistake("labels that twins do not share", lambda check: replace(
            check, over=[{**case, "labels": case["labels"].flip(0)} for case in check.over])),
    ],
}  # fmt: skip
