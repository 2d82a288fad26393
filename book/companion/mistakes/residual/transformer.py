"""Mistakes planted in the chapter *A complete Transformer and its six gradients*: what its checks must notice."""

import functools
from dataclasses import replace

import torch

from companion.mistakes import larger
from shallowformer import softmax
from shallowformer.residual import bounds, gradients, model
from shallowformer.residual.smoothed import SmoothedReLU
from shallowformer.verify.mistakes import Mistake, formula, package

_gradients, _unchecked, _bounds = gradients.gradients, gradients.unchecked, bounds.by_diameters
_phi, _first, _second = SmoothedReLU.__call__, SmoothedReLU.first, SmoothedReLU.second
_forward = model.unchecked


def _less(factor):
    return Mistake(f"a bound smaller by {1 - factor:.0%}", lambda check: check.scaled(factor))


def _blocks(change):
    """The six gradients with some of them changed."""

    def wrong(X, Y, theta, setting):
        back = _unchecked(X, Y, theta, setting)
        return back.gradients._replace(**change(back, X, theta, setting))

    return wrong


def _key(T, X, theta, setting):
    return gradients.summed(X, T @ (X @ theta.W_Q)) / setting.divisor(theta)


def _query(T, X, theta, setting):
    return gradients.summed(X, T @ (X @ theta.W_K)) / setting.divisor(theta)


_not_transposed = _blocks(lambda back, X, theta, setting: {"W_K": _key(back.T, X, theta, setting)})
_not_centred = _blocks(
    lambda back, X, theta, setting: {"W_Q": _query(back.forward.S * back.M, X, theta, setting)}
)
_no_scale = _blocks(
    lambda back, X, theta, setting: {"W_Q": back.gradients.W_Q * 1.05 * setting.divisor(theta)}
)
_no_residual = _blocks(
    lambda back, X, theta, setting: {"W_V": gradients.summed(back.forward.S @ X, back.D @ theta.W_1.mT)}
)


def _steeper(self, x):
    return 1.05 * _phi(self, x)


def _lifted(self, x):
    return _phi(self, x) + 0.01


def _uncentred(X, alpha):
    return (alpha[..., None] * X).mT @ X


def _uncentred_jacobian(z):
    return torch.diag_embed(torch.softmax(z, -1))


def _without_mean(z, u):
    return torch.softmax(z, -1) * u


def _third_about_0(X, alpha, u, v, w):
    along = [(X @ each[..., None])[..., 0] for each in (u, v, w)]
    return (alpha * along[0] * along[1] * along[2]).sum(-1)


def _smaller_bounds(factor, only):
    def wrong(*arguments):
        found = _bounds(*arguments)
        keep = torch.ones(6, dtype=found.dtype)
        keep[only] = factor
        return keep * found

    return wrong


def _norm_of_product(X, Y, theta, setting):
    """‖W_1W_2‖ in the place of ‖W_1‖‖W_2‖, for the three bounds of attention."""
    norm = lambda M: torch.linalg.matrix_norm(M, 2)
    product = setting.g_f + norm(theta.W_1 @ theta.W_2)
    share = product / (setting.g_f + norm(theta.W_1) * norm(theta.W_2))
    found = _bounds(X, Y, theta, setting)
    return torch.cat([share[..., None] * found[..., :3], found[..., 3:]], -1)


def _wrong_jump(X, Y, theta, setting):
    found = _gradients(X, Y, theta, setting)
    return found._replace(W_1=torch.where(theta.W_1 > 0, found.W_1, found.W_1 + 1.0))


def _mean_loss(X, Y, theta, setting):
    return 1.05 * model.half_square(_forward(X, theta, setting).F - Y)


def _times(factor):
    return Mistake(
        f"values off by {factor - 1:.0%}",
        lambda check: replace(check, fails=functools.partial(_drawn, check.fails, factor)),
    )


def _drawn(fails, factor, draws, generator):
    return factor * fails(draws, generator)


#: Check → mistakes that must turn it red.
MISTAKES: dict[str, list[Mistake]] = {
    "rt-lemma-a": [
        package("T not transposed for the key", gradients, "gradients", _not_transposed),
        package("the softmax without its mean", gradients, "gradients", _not_centred),
        package("the scale dropped", gradients, "gradients", _no_scale),
        package("the residual way of the error dropped", gradients, "gradients", _no_residual),
    ],
    "rt-lemma-a/covariance": [
        package("tokens not centred", softmax, "covariance", _uncentred),
        package("T not transposed for the key", gradients, "gradients", _not_transposed),
    ],
    "rt-definition-a1": [
        package("a slope of 1.05", SmoothedReLU, "__call__", _steeper),
        package(
            "not monotone", SmoothedReLU, "__call__", lambda self, x: torch.relu(x) + 0.05 * torch.relu(-x)
        ),
    ],
    "rt-definition-a1/smoothed": [
        package("a slope of 1.05", SmoothedReLU, "__call__", _steeper),
        Mistake(
            "not monotone",
            lambda check: replace(
                check,
                lhs=lambda x, gap: (2 * (1.05 * torch.relu(x + gap) - 1.05 * torch.relu(x)) - gap).abs(),
            ),
        ),
    ],
    "rt-definition-a1/origin": [package("not 0 at 0", SmoothedReLU, "__call__", _lifted), larger(1.05)],
    "rt-lemma-b": [
        package("not 0 at 0", SmoothedReLU, "__call__", _lifted),
        package("a slope of another width", SmoothedReLU, "first", lambda self, x: _first(self, 1.05 * x)),
        package("a curvature 5 % larger", SmoothedReLU, "second", lambda self, x: 1.05 * _second(self, x)),
    ],
    "rt-lemma-b/odd-part": [package("a slope of 1.05", SmoothedReLU, "__call__", _steeper)],
    "rt-lemma-b/curvature": [_less(0.99), package("a slope of 1.05", SmoothedReLU, "__call__", _steeper)],
    "rt-lemma-b/gap": [_less(0.99), package("not 0 at 0", SmoothedReLU, "__call__", _lifted)],
    "rt-lemma-2": [package("without the product", softmax, "jacobian", _uncentred_jacobian)],
    "rt-lemma-c": [_less(0.99)],
    "rt-lemma-c/root": [_less(0.99)],
    "rt-lemma-c/one": [larger(1.01)],
    "rt-lemma-d": [_less(0.99), package("without the product", softmax, "jacobian", _uncentred_jacobian)],
    "rt-lemma-d/range": [
        _less(0.99),
        package("without the mean", softmax, "jacobian_product", _without_mean),
    ],
    "rt-lemma-e": [_less(0.98)],
    "rt-lemma-e-spectral": [
        package("without the mean", softmax, "jacobian_product", _without_mean),
        formula("1 % more", lambda value, case: 1.01 * value),
    ],
    "rt-lemma-e-spectral/above": [
        _less(0.97),
        package("without the mean", softmax, "jacobian_product", _without_mean),
    ],
    "rt-lemma-e-spectral/value": [
        _less(0.99),
        package("without the mean", softmax, "jacobian_product", _without_mean),
    ],
    "rt-lemma-e-spectral/column": [_less(0.99)],
    "rt-lemma-e-spectral/nuclear": [_less(0.99)],
    "rt-lemma-e-spectral/half": [_less(2.0)],
    "rt-lemma-e-spectral/two": [_less(0.98)],
    "rt-lemma-f": [_less(0.99), package("tokens not centred", softmax, "covariance", _uncentred)],
    "rt-lemma-f/norm": [_less(0.99)],
    "rt-lemma-f/third": [
        _less(0.99),
        package("tokens not centred", softmax, "third_cumulant_form", _third_about_0),
    ],
    **{
        f"rt-lemma-g{part}": [
            package(f"bound {k} smaller by 2 %", bounds, "by_diameters", _smaller_bounds(0.98, k)),
            *([package("the norm of W_1W_2", bounds, "by_diameters", _norm_of_product)] if k < 3 else []),
        ]
        for k, part in enumerate(("", "/key", "/value", "/first", "/second", "/unembedding"))
    },
    "rt-lemma-g/norms": [_less(0.98)],
    "rt-proposition-a-kink": [
        package("a slope left of 0", gradients, "gradients", _wrong_jump),
        formula("5 % more", lambda value, case: (1.05 * value[0], value[1])),
        formula(
            "the square forgotten",
            lambda value, case: (value[0], value[1] - case["a"] ** 2 * case["h"] ** 2 / 2),
        ),
    ],
    "rt-proposition-a-kink/descent": [
        package("a loss that is larger", model, "loss", _mean_loss),
        formula("5 % more", lambda value, case: 1.05 * value),
    ],
    "rt-proposition-a-kink/constant": [_less(100.0)],
    "rt-proposition-b-entrywise": [formula("1 % more", lambda value, case: 1.01 * value)],
    "rt-proposition-b-entrywise/above": [_less(0.97)],
    "rt-proposition-b-entrywise/frobenius": [
        _less(0.99),
        package("a slope of 1.05", SmoothedReLU, "__call__", _steeper),
    ],
    "rt-proposition-b-entrywise/spectral": [_less(1.6)],
    "rt-lemma-3": [_times(1.05), _times(0.95)],
    "rt-lemma-3/column": [_times(1.05), _times(0.95)],
    "rt-lemma-3/smallest": [larger(1.02), larger(0.98)],
    "rt-lemma-3/largest": [larger(1.02), larger(0.98)],
    "rt-lemma-3/weyl": [_less(0.99)],
    "rt-lemma-4": [_times(1.05), _times(0.95)],
    "rt-theorem-3": [larger(1.05)],
    "rt-theorem-3/moment": [_less(0.99)],
}
