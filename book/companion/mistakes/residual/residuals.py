"""Mistakes planted in the chapter *What a residual really does*: what its checks must notice."""

from dataclasses import replace

import torch

from companion.mistakes import larger
from companion.theory.residual import collapse, escape, hull, kernel, plateau, scale
from shallowformer.residual import gradients, spectra
from shallowformer.residual.parameters import Setting
from shallowformer.verify.mistakes import Mistake, formula, measured, package

_kernel_bound, _width = kernel.lower_bound, kernel.width
_difference, _remainder = collapse.difference, collapse.remainder_bound
_exceptional = hull.exceptional
_coupling, _at_means, _growth = escape.coupling, escape.coupling_at_means, escape.growth
_gradients = gradients.gradients
_steps, _standard = scale.steps, scale.standard


def _oftener(factor):
    return Mistake(
        f"ratios {factor - 1:.0%} larger",
        lambda check: replace(check, fails=lambda *draws: factor * check.fails(*draws)),
    )


def _longest_row(Z, activation, beta=1.0):
    """The longest row decides."""
    size = beta * Z.norm(dim=-1).amax(-1)
    q = size / (size.square() + activation.tau**2).sqrt()
    return kernel.constant(q) * beta**2 * torch.linalg.eigvalsh(Z @ Z.mT)[..., 0]


def _no_shift(Z, activation, beta=1.0):
    """Without the terms in τ."""
    s = ((beta * Z).square().sum(-1) + activation.tau**2).sqrt()
    products = s[..., :, None] * s[..., None, :]
    return products * kernel.arc_cosine(beta**2 * Z @ Z.mT / products)


def _nearest_token(X, point):
    """Distance to the nearest token, not to the hull."""
    return (X - point[..., None, :]).norm(dim=-1).amin(-1)


def _weyl_without_values(X, theta, setting):
    """‖W_V‖ forgotten."""
    g = setting.g[..., None] if isinstance(setting.g, torch.Tensor) else setting.g
    return g * spectra.smallest(X) - X.shape[-2] ** 0.5 * X.norm(dim=-1).amax(-1)


def _swapped(*all):
    """Gradients of queries and keys exchanged."""
    found = _gradients(*all)
    return found._replace(W_Q=found.W_K, W_K=found.W_Q)


def _width_unscaled(theta, setting):
    """The width of the activation is left as it is."""
    begin, other = _standard(theta, setting)
    return begin, Setting(1.0, other.g_f, setting.activation, other.temperature)


_half_coupling = package("half of the coupling", escape, "coupling", lambda *all: _coupling(*all) / 2)

#: Check → mistakes that must turn it red.
MISTAKES: dict[str, list[Mistake]] = {
    "rt-lemma-p": [formula("5 % more", lambda value, case: 1.05 * value)],
    "rt-proposition-p": [
        package("of the second moment", kernel, "constant", lambda q: 0.5 + 0 * q),
        package("¼", kernel, "constant", lambda q: 0.25 + 0 * q),
    ],
    "rt-proposition-p/relu": [
        package("½", kernel, "constant", lambda q: 0.5 + 0 * q),
        package("5 % more", kernel, "lower_bound", lambda *all: 1.05 * _kernel_bound(*all)),
    ],
    "rt-proposition-p/tau-20": [
        package("the longest row", kernel, "lower_bound", _longest_row),
        package("of ReLU", kernel, "constant", lambda q: kernel.OF_RELU + 0 * q),
    ],
    "rt-proposition-p/kernel": [package("without the terms in τ", kernel, "gram", _no_shift)],
    "rt-proposition-q": [
        package("the limit for all ω", collapse, "steepness", lambda omega, N: 1 / N + 0 * omega),
    ],
    "rt-proposition-q/above": [package("5 % less", collapse, "difference", lambda S: 0.95 * _difference(S))],
    "rt-proposition-q/below": [package("5 % more", collapse, "difference", lambda S: 1.05 * _difference(S))],
    "rt-proposition-q/remainder": [
        package("5 % less", collapse, "remainder_bound", lambda L: 0.95 * _remainder(L))
    ],
    "rt-corollary-q": [
        package("5 % less", collapse, "difference", lambda S: 0.95 * _difference(S)),
    ],
    "rt-corollary-q/output": [
        package("5 % less", collapse, "difference", lambda S: 0.95 * _difference(S)),
    ],
    "rt-lemma-q": [
        larger(1.05),
        Mistake(
            "W_V enters by half",
            lambda check: replace(check, lhs=lambda W_V, **rest: check.lhs(W_V=W_V / 2, **rest)),
        ),
    ],
    "rt-lemma-q/tokens": [package("‖W_V‖ forgotten", spectra, "weyl", _weyl_without_values)],
    "rt-proposition-s": [
        package("another sign", hull, "exceptional", lambda *all: -_exceptional(*all)),
    ],
    "rt-proposition-s/wide": [
        package("another sign", hull, "exceptional", lambda *all: -_exceptional(*all)),
        package("5 % more", hull, "exceptional", lambda *all: 1.05 * _exceptional(*all)),
    ],
    "rt-proposition-s/softmax": [formula("5 % more", lambda value, case: 1.05 * value)],
    "rt-remark-q": [
        formula("the rank of the tokens", lambda value, case: torch.linalg.matrix_rank(case["X"]).double())
    ],
    "rt-remark-q/spanning": [larger(1.05)],
    "rt-proposition-t": [
        package("nearest token", hull, "distance", _nearest_token),
        larger(1.05),
    ],
    "rt-proposition-t/criterion": [formula("5 % more", lambda value, case: 1.05 * value)],
    "rt-proposition-t/gaussian": [
        package("nearest token", hull, "distance", _nearest_token),
        _oftener(1.2),
    ],
    "rt-remark-r": [formula("5 % more", lambda value, case: 1.05 * value)],
    "rt-remark-r/monotone": [
        Mistake(
            "nothing more",
            lambda check: replace(check, lhs=lambda g, more: check.lhs(g=g, more=0 * more)),
        )
    ],
    "rt-proposition-u": [
        package("no floor", plateau, "floor", lambda Y: 0 * Y.sum((-3, -2, -1))),
        formula("5 % more", lambda value, case: 1.05 * value),
    ],
    "rt-proposition-u/gradient": [
        package("no floor", plateau, "floor", lambda Y: 0 * Y.sum((-3, -2, -1))),
        larger(1.05),
    ],
    "rt-proposition-u/line": [formula("1 % more", lambda value, case: 1.01 * value)],
    "rt-proposition-u/balance": [package("exchanged", gradients, "gradients", _swapped)],
    "rt-lemma-r": [
        package("transposed", escape, "coupling_at_means", lambda *all: _at_means(*all).mT),
        _half_coupling,
    ],
    "rt-theorem-s": [
        package(
            "gradient flow",
            escape,
            "growth",
            lambda M, mu: torch.exp(torch.linalg.matrix_norm(M, 2) * mu).item(),
        ),
        package("Frobenius norm", escape, "growth", lambda M, mu: 1 + mu * float(M.norm())),
        package("half of the norm", escape, "growth", lambda M, mu: (1 + _growth(M, mu)) / 2),
    ],
    "rt-theorem-s/value": [
        package("all of the start grows", escape, "aligned", lambda *all: 1.0),
        package("half of the coupling", escape, "coupling_at_means", lambda *all: _at_means(*all) / 2),
    ],
    "rt-corollary-s": [_half_coupling],
    "rt-corollary-s/bound": [
        package("5 % more", escape, "coupling", lambda *all: 1.05 * _coupling(*all)),
    ],
    "rt-remark-s": [formula("5 % more", lambda value, case: 1.05 * value)],
    "rt-remark-s/left": [larger(1.3)],
    "rt-remark-s/asleep": [larger(1.05)],
    "rt-remark-s/awake": [larger(1.05)],
    "rt-remark-s/drawn": [larger(1.05)],
    "rt-remark-s/ahead": [larger(1.2)],
    "rt-remark-s/behind": [larger(1.3)],
    "rt-theorem-u": [
        package("g to the 1.9", scale, "steps", lambda g, mu: _steps(g**0.95, mu)),
        package("τ as it is", scale, "standard", _width_unscaled),
    ],
    "rt-theorem-v": [measured("a tenth of an order less", lambda value: value**0.9)],
    "rt-theorem-v/values": [measured("a tenth of an order less", lambda value: value**0.9)],
    "rt-proposition-x": [formula("5 % more", lambda value, case: 1.05 * value)],
    "rt-remark-x": [larger(1.2)],
    "rt-theorem-p": [package("5 % narrower", kernel, "width", lambda *all: 0.95 * _width(*all))],
    "rt-theorem-p/tail": [larger(1.05)],
    "rt-theorem-p/quantile": [_oftener(1.2)],
    "rt-theorem-q": [larger(1.25)],
    "rt-theorem-q/range": [larger(1.05)],
    "rt-theorem-q/quantile": [_oftener(1.2)],
    "rt-remark-u/constant": [formula("5 % more", lambda value, case: 1.05 * value)],
    "rt-remark-u": [measured("a fifth of an order less", lambda value: value**0.8)],
    "rt-proposition-r": [
        formula("temperature to the first power", lambda value, case: value * case["temperature"]),
        formula("5 % more", lambda value, case: 1.05 * value),
    ],
    "rt-theorem-r": [formula("5 % more", lambda value, case: 1.05 * value)],
    "rt-theorem-r/one": [_oftener(1.2)],
    "rt-theorem-r/square": [_oftener(1.2)],
    "rt-theorem-r/wide": [_oftener(1.2)],
    "rt-proposition-v": [_half_coupling],
}
