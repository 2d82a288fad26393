"""Mistakes planted in the chapter *What each ingredient buys*: what its checks must notice."""

from companion.mistakes import larger
from companion.theory.preconditioned import least_squares
from shallowformer.preconditioned import factorisation, invariance, noise, starts
from shallowformer.preconditioned.moments import Moments
from shallowformer.verify.mistakes import Mistake, formula, measured, package

_right_spectral = starts.spectral
_right_gradient = factorisation.gradient
_right_pull = invariance.regulariser_gradient
_right_constant = noise.constant
_right_moments = Moments.of
_right_squares = least_squares.expected_error


def _by_singular_vectors(moments, rank=None, symmetric=False):
    return _right_spectral(moments, rank)


def _always_polar(moments, rank=None, symmetric=False):
    return _right_spectral(moments, symmetric=True)


def _plain(U, V, lam=0.5):
    """Not invariant."""
    return lam / 4 * factorisation.imbalance(U, V).square().sum()


def _plain_pull(U, V, lam=0.5):
    """Its component along (U, −V) left in."""
    C = factorisation.imbalance(U, V)
    return lam * U @ C, -lam * V @ C


def _wrong_sign(U, V, target, lam=0.5):
    of_U, of_V = _right_gradient(U, V, target, lam)
    return of_U, of_V + 2 * lam * V @ factorisation.imbalance(U, V)


def _at_other_weights(A, B, Sigma):
    return _right_constant(A, 1.05 * B, Sigma)


def _one_degree_more(m, d, sigma, n):
    return m * d * sigma**2 / (2 * (n - d))


def _no_ridge(X, Y, ridge=0.0):
    return _right_moments(X, Y)


def _part(index):
    """5 % more in one part."""
    return formula(
        f"5 % more in part {index}",
        lambda value, case: tuple(1.05 * v if k == index else v for k, v in enumerate(value)),
    )


_more = formula("5 % more", lambda value, case: 1.05 * value)

#: Check → mistakes that must turn it red.
MISTAKES: dict[str, list[Mistake]] = {
    "pa-proposition-t": [package("not invariant", invariance, "regulariser", _plain), _more],
    "pa-proposition-t/gradient": [
        package("not projected", invariance, "regulariser_gradient", _plain_pull),
        _part(0),
    ],
    "pa-proposition-t/spectrum": [_more],
    "pa-theorem-u": [
        package("the start by singular vectors", starts, "spectral", _by_singular_vectors),
        package("another regulariser", invariance, "regulariser_gradient", _plain_pull),
        _part(0),
        _part(3),
    ],
    "pa-theorem-u-svd": [package("the polar start", starts, "spectral", _always_polar)],
    "pa-proposition-v": [_more],
    "pa-proposition-v/above": [larger(1.01)],
    "pa-proposition-v/below": [larger(1.01)],
    "pa-theorem-x": [
        package("wrong sign of the regulariser", factorisation, "gradient", _wrong_sign),
        _more,
    ],
    "pa-theorem-x/flow": [larger(1.01)],
    "pa-theorem-x/descent": [larger(1.05)],
    "pa-theorem-x/attained": [_more],
    "pa-remark-z-removed": [_part(0), _part(1)],
    "pa-remark-z-removed/again": [
        package("the start by singular vectors", starts, "spectral", _by_singular_vectors)
    ],
    "pa-remark-z-radius": [measured("its root", lambda value: value**0.5)],
    "pa-remark-z-radius/small": [measured("its root", lambda value: value**0.5)],
    "pa-remark-z-radius/large": [measured("its square", lambda value: value**2)],
    "pa-theorem-y": [package("other weights", noise, "constant", _at_other_weights), _more],
    "pa-theorem-y/floor": [larger(1.01)],
    "pa-theorem-y/planar": [larger(1.01)],
    "pa-theorem-y/squares": [
        package("a degree of freedom", least_squares, "expected_error", _one_degree_more),
        package(
            "d² for md",
            least_squares,
            "expected_error",
            lambda m, d, sigma, n: _right_squares(d, d, sigma, n),
        ),
        package(
            "σ for σ²", least_squares, "expected_error", lambda m, d, s, n: _right_squares(m, d, s**0.5, n)
        ),
        _more,
    ],
    "pa-theorem-y-measured": [larger(1.5)],
    "pa-remark-z": [_part(0)],
    "pa-remark-z/rotated": [_more],
    "pa-remark-z/stretched": [package("no ridge", Moments, "of", _no_ridge)],
}
