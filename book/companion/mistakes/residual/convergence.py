"""Mistakes planted in the chapter *Why it converges*: what its checks must notice."""

from dataclasses import replace

import torch

from companion.mistakes import larger
from companion.theory.residual import admissible, certificates, derivatives, tangent
from shallowformer.residual import spectra
from shallowformer.verify.mistakes import Mistake, formula, package

_right_forms = derivatives.unchecked
_right_diameter = derivatives.diameter
_right_ends = tangent.ends
_right_readout = tangent.readout
_right_pl_2 = spectra.pl_2


def _without_unembedding(X, theta, setting):
    """2σ²_min(Ā) alone."""
    return _right_pl_2(X, theta, setting) / spectra.smallest(theta.W_U).square()


def _of_hidden_layer(X, theta, setting):
    """2σ²_min(Ā) in the place of 2σ²_min(H̄)."""
    return 2 * spectra.spectrum(X, theta, setting).sigma_A.square()


def _at_the_centre(X, theta, setting, radius, beta):
    """Forms at θ⁽⁰⁾, whatever the radius."""
    return _right_forms(X, theta, setting, 0 * torch.as_tensor(radius, dtype=X.dtype), beta)


def _nearer(X, theta, setting, radius, beta):
    """Forms on a ball of 95 % of the radius."""
    return _right_forms(X, theta, setting, 0.95 * torch.as_tensor(radius, dtype=X.dtype), beta)


def _without_value_and_query(X, theta, setting, radius, beta):
    """The second form without its entry of W_Q and W_V."""
    found = _right_forms(X, theta, setting, radius, beta)
    mask = torch.ones(6, 6, dtype=X.dtype)
    mask[0, 2] = mask[2, 0] = 0
    return replace(found, second=found.second * mask)


def _residual_forgotten(X, theta, setting, radius, beta):
    """The form of H̄ as if nothing passed around the feed-forward network."""
    found = _right_forms(X, theta, setting, radius, beta)
    return replace(found, H=found.H - setting.g_f * found.Z)


def _straight(X, Y, theta, setting, radius):
    """L at the centre, for errors of 0."""
    return _right_ends(X, theta, setting)[1] ** 2


def _shorter(X, theta, setting):
    """The second largest singular value for the largest."""
    values = torch.linalg.svdvals(tangent.jacobian(X, theta, setting))
    return float(values[-1]), float(values[1])


HALF_AS_WIDE = package("half the diameter", derivatives, "diameter", lambda M: _right_diameter(M) / 2)
NO_CUMULANT = package("no third cumulant", derivatives, "THIRD", 0.0)
NO_RADIUS = package("constants of the centre", derivatives, "unchecked", _at_the_centre)
NEARER = package("5 % less radius", derivatives, "unchecked", _nearer)
SHORT_JACOBIAN = package("another singular value", tangent, "ends", _shorter)

_right_constants = admissible.constants


def _half_of(name):
    """One of Theorem A's constants, halved."""

    def mistaken(X, theta, setting):
        found = _right_constants(X, theta, setting)
        return replace(found, c=found.c._replace(**{name: getattr(found.c, name) / 2}))

    return mistaken


#: Checks that hold stored ratios against 1.
ON_ROWS = (
    "rt-theorem-1", "rt-theorem-2", "rt-theorem-a", "rt-theorem-a/path", "rt-theorem-a-plus/runs", "rt-corollary-1", "rt-corollary-b",
    "rt-theorem-d", "rt-theorem-d/rate", "rt-theorem-d/kept", "rt-theorem-d/network", "rt-theorem-d-relu", "rt-theorem-d-relu/kept",
    "rt-theorem-e", "rt-theorem-e/rate", "rt-theorem-e/kept", "rt-theorem-e/half", "rt-theorem-e/most",
    "rt-theorem-f", "rt-theorem-f/rate", "rt-theorem-f/half", "rt-theorem-f/both",
)  # fmt: skip

#: Check → mistakes that must turn it red.
MISTAKES: dict[str, list[Mistake]] = {
    "rt-lemma-h": [package("no W_U", spectra, "pl_2", _without_unembedding)],
    "rt-lemma-h/whole": [package("no W_U", spectra, "pl_2", _without_unembedding)],
    "rt-lemma-i": [package("the hidden layer's", spectra, "pl_u", _of_hidden_layer)],
    "rt-lemma-j": [
        package(
            "c in the place of c²",
            tangent,
            "readout",
            lambda X, theta, setting: _right_readout(
                X, theta, setting, float(torch.linalg.svdvals(theta.W_U)[-1]) ** 0.5
            ),
        )
    ],
    "rt-lemma-k": [
        HALF_AS_WIDE,
        package("no network residual", derivatives, "unchecked", _residual_forgotten),
    ],
    "rt-lemma-k/radius": [NO_RADIUS, NEARER],
    "rt-lemma-k/ball": [NO_RADIUS, larger(1.05)],
    "rt-lemma-l": [
        HALF_AS_WIDE,
        NO_CUMULANT,
        package("an entry left out", derivatives, "unchecked", _without_value_and_query),
    ],
    "rt-lemma-l/radius": [NO_RADIUS, NEARER],
    "rt-lemma-l/ball": [NO_RADIUS, larger(1.05)],
    "rt-lemma-m": [NO_RADIUS, larger(1.05)],
    "rt-corollary-a": [NO_RADIUS, larger(1.05)],
    "rt-corollary-a/step": [
        SHORT_JACOBIAN,
        package("no radius, no errors", certificates, "smoothness", _straight),
    ],
    "rt-lemma-1": [larger(1.01)],
    "rt-lemma-1-upper": [larger(1.01)],
    "rt-theorem-c/key": [larger(1.01)],
    "rt-theorem-c-split": [larger(1.01)],
    "rt-theorem-c": [formula("1 % more", lambda value, case: 1.01 * value)],
    "rt-theorem-b": [formula("1 % more", lambda value, case: 1.01 * value)],
    "rt-theorem-a-plus": [formula("1 % more", lambda value, case: 1.01 * value)],
    "rt-theorem-2/condition": [formula("1 % more", lambda value, case: 1.01 * value)],
    "rt-corollary-b/below": [formula("5 % more", lambda value, case: 1.05 * value)],
    "rt-theorem-a/again": [SHORT_JACOBIAN],
    "rt-theorem-a/constants": [
        package(f"half of {name}", admissible, "constants", _half_of(name))
        for name in ("W_Q", "W_K", "W_V", "W_1", "W_2", "W_U")
    ],
    "rt-theorem-a-plus/again": [SHORT_JACOBIAN, HALF_AS_WIDE],
    "rt-theorem-d/again": [HALF_AS_WIDE, NO_RADIUS, SHORT_JACOBIAN],
    "rt-theorem-d-relu/again": [HALF_AS_WIDE],
    "rt-theorem-e/again": [HALF_AS_WIDE, NO_CUMULANT, SHORT_JACOBIAN],
    "rt-theorem-f/again": [package("no network residual", derivatives, "unchecked", _residual_forgotten)],
    "rt-theorem-f/both-again": [HALF_AS_WIDE, NO_RADIUS],
    **{claim: [larger(1.01)] for claim in ON_ROWS},
}
