"""A wrong number that no declared mistake leads to is told where to look."""

import math
from importlib import import_module

import pytest

#: Exercise → wrong numbers, and a word of what is told.
TOLD = {
    "experiments.beyond.check_causal": [(1.0, "equal")],
    "experiments.beyond.check_shift": [(4.0, "divide"), (-1.0, "above 0")],
    "experiments.breaks.check_lazy_width": [(100, "keep")],
    "experiments.breaks.check_share": [(0.5, "variance")],
    "experiments.headlines.check_records": [(50000, "far fewer"), (3.0, "add up")],
    "experiments.long_memory.check_contrast": [(1.0, "when is it above")],
    "experiments.scaling.check_last_token": [(7, "on the sphere")],
    "kernel_regime.approximation.check_enough": [(10000, "fewer"), (500, "power of 10")],
    "kernel_regime.descent.check_ratio": [(0.1, "the larger"), (1000.0, "in that order")],
    "kernel_regime.envelopes.check_crossover": [(1000, "close"), (256, "ρ_c on both sides")],
    "kernel_regime.gradients.check_long_sequence_limit": [(0.19, "long enough"), (0.0, "not 0")],
    "kernel_regime.linear_model.check_readout_exponent": [(-0.8, "fit log error")],
    "kernel_regime.model.check_kept_fraction": [(0.7, "0.01"), (1.5, "between")],
    "kernel_regime.neighbourhood.check_median_displacement": [
        (math.nan, "no length"),
        (3.0, "divide by"),
        (0.7, "W-block"),
        (2 ** (-1 / 64) / 4096**0.5, "in units of"),
        (0.501, "readout"),
        (0.917, "64 entries"),
    ],
    "kernel_regime.no_logs.check_slope": [(-3, "root mean squares")],
    "kernel_regime.self_bounding.check_best_theta": [
        (0.3, "smaller"),
        (0.1, "larger"),
        (1.2, "between 0 and 1"),
    ],
    "kernel_regime.smoothness.check_typical_curvature": [
        (2.38, "worst case"),
        (0.5, "too large"),
        (0.2, "too small"),
    ],
    "kernel_regime.softmax_calculus.check_insensitive_scale": [
        (1.0, "larger"),
        (12.0, "smaller"),
        (-1.0, "above 0"),
    ],
    "kernel_regime.stochastic.check_batch": [(100, "solve")],
    "kernel_regime.tangent_kernel.check_heads_for_one_per_cent": [
        (6700, "pairs"),
        (1.33, "100²"),
        (115, "squared"),
        (300, "too small"),
        (1000000.0, "too large"),
    ],
    "kernel_regime.theorem_1.check_heads_needed": [
        (57, "exponent"),
        (1e17, "power of 2"),
        (2**40, "too few"),
        (2**60, "not the smallest"),
    ],
    "kernel_regime.transportation.check_weight": [(0.5, "does not match")],
    "kernel_regime.vacuous.check_floor": [(0.125, "-0.1"), (0.001, "-0.9"), (-1, "above 0")],
}


def _handed_in(check, number):
    module, name = check.rsplit(".", 1)
    return getattr(import_module(f"companion.exercises.{module}"), name)(number)


@pytest.mark.parametrize(
    ("check", "number", "word"), [(check, *row) for check, rows in TOLD.items() for row in rows]
)
def test_a_wrong_number_is_told_where_to_look(check, number, word):
    feedback = _handed_in(check, number)
    assert feedback.state == "wrong"
    assert word in feedback.told


@pytest.mark.parametrize(
    "check",
    [
        "preconditioned.geometric.check_samples",
        "preconditioned.geometric.check_length",
        "residual.climate.check_steps",
        "residual.climate.check_ahead",
        "residual.convergence.check_share",
        "residual.convergence.check_frozen",
        "residual.transformer.check_kink",
        "residual.transformer.check_leak",
        "token_selection.real_tokens.check_pull",
        "token_selection.real_tokens.check_mean",
    ],
)
def test_any_other_number_is_told_where_to_begin(check):
    feedback = _handed_in(check, 17.0)
    assert feedback.state == "wrong"
    assert len(feedback.hints[-1]) > 20
