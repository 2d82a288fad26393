"""Exercises: the stub is not yet judged, plausible wrong answers get a helpful hint, and every exercise has a folded solution."""

import re

import numpy as np
import pytest
import torch

from bookext.chapters import chapters, read_notebook
from shallowformer.exercises import (
    approximation,
    beyond,
    breaks,
    descent,
    envelopes,
    gradients,
    headlines,
    linear_model,
    model,
    neighbourhood,
    no_logs,
    reproduction,
    scaling,
    self_bounding,
    smoothness,
    softmax,
    stochastic,
    tangent_kernel,
    theorem_1,
    transportation,
    vacuous,
)
from shallowformer.exercises.feedback import Feedback, judge

CHAPTERS = [path for path in chapters() if path.parent.name in ("kernel_regime", "experiments")]
#: Check → wrong answers by the hint that they must get.
FUNCTIONS = {
    softmax.check_spectral_norm: softmax.SPECTRAL_NORM_MISTAKES,
    softmax.check_covariance_product: softmax.COVARIANCE_PRODUCT_MISTAKES,
    model.check_merge: model.MERGE_MISTAKES,
    model.check_pad: model.PAD_MISTAKES,
    gradients.check_weight_feature: gradients.WEIGHT_FEATURE_MISTAKES,
    gradients.check_query_gradient: gradients.QUERY_GRADIENT_MISTAKES,
    neighbourhood.check_project: neighbourhood.PROJECT_MISTAKES,
    neighbourhood.check_plane_radius: neighbourhood.PLANE_RADIUS_MISTAKES,
    smoothness.check_heavy_mass: smoothness.HEAVY_MASS_MISTAKES,
    smoothness.check_skewness_product: smoothness.SKEWNESS_PRODUCT_MISTAKES,
    tangent_kernel.check_head_kernel: tangent_kernel.HEAD_KERNEL_MISTAKES,
    tangent_kernel.check_token_kernel: tangent_kernel.TOKEN_KERNEL_MISTAKES,
    transportation.check_transport_point: transportation.TRANSPORT_POINT_MISTAKES,
    approximation.check_psi2_norm: approximation.PSI2_NORM_MISTAKES,
    approximation.check_width: approximation.WIDTH_MISTAKES,
    linear_model.check_tangent: linear_model.TANGENT_MISTAKES,
    linear_model.check_frozen_bound: linear_model.FROZEN_BOUND_MISTAKES,
    envelopes.check_isotropic: envelopes.ISOTROPIC_MISTAKES,
    envelopes.check_target_envelope: envelopes.TARGET_ENVELOPE_MISTAKES,
    descent.check_edge: descent.EDGE_MISTAKES,
    theorem_1.check_best_step: theorem_1.BEST_STEP_MISTAKES,
    theorem_1.check_next_distance: theorem_1.NEXT_DISTANCE_MISTAKES,
    self_bounding.check_root: self_bounding.ROOT_MISTAKES,
    self_bounding.check_step: self_bounding.STEP_MISTAKES,
    stochastic.check_second_moment: stochastic.SECOND_MOMENT_MISTAKES,
    stochastic.check_factor: stochastic.FACTOR_MISTAKES,
    no_logs.check_turn: no_logs.TURN_MISTAKES,
    no_logs.check_heads_for: no_logs.HEADS_MISTAKES,
    vacuous.check_ridge_parameter: vacuous.RIDGE_MISTAKES,
    vacuous.check_label_scale: vacuous.SCALE_MISTAKES,
    headlines.check_inputs_for_double: headlines.DOUBLE_MISTAKES,
    headlines.check_repeated_mass: headlines.MASS_MISTAKES,
    reproduction.check_logits: reproduction.LOGITS_MISTAKES,
    reproduction.check_pair_variance: reproduction.PAIR_VARIANCE_MISTAKES,
    reproduction.check_alike_error: reproduction.ALIKE_MISTAKES,
    breaks.check_least_fence: breaks.FENCE_MISTAKES,
    breaks.check_price: breaks.PRICE_MISTAKES,
    beyond.check_partners: beyond.PARTNERS_MISTAKES,
    beyond.check_reach: beyond.REACH_MISTAKES,
    scaling.check_teacher_heads: scaling.TEACHER_MISTAKES,
    scaling.check_slope: scaling.SLOPE_MISTAKES,
}
#: Check → wrong numbers, with a word that the feedback must contain.
NUMBERS = {
    scaling.check_last_token: {
        0.125: "independent",
        0.375: "add up to 1",
        1.0: "full W",
        0.5477: "its root",
        7: "on the sphere",
    },
    softmax.check_insensitive_scale: {
        1.0: "larger",
        12.0: "smaller",
        -1.0: "above 0",
        "much": "expected a number",
    },
    model.check_kept_fraction: {0.5: "singular values", 0.9482: "square", 0.7: "0.01", 1.5: "between"},
    gradients.check_long_sequence_limit: {0.125: "uniform", 0.19: "long enough", 0.0: "not 0"},
    neighbourhood.check_median_displacement: {
        0.5: "not uniform",
        0.501: "readout",
        float("nan"): "no length",
        0.917: "64 entries",
        3.0: "divide by",
        0.7: "W-block",
    },
    smoothness.check_typical_curvature: {2.38: "worst case", 0.5: "too large", 0.2: "too small"},
    tangent_kernel.check_heads_for_one_per_cent: {
        6700: "pairs",
        1.33: "100²",
        115: "squared",
        300: "too small",
        1e6: "too large",
        "many": "expected a number",
    },
    transportation.check_weight: {0.0625: "paper's weight", 1.0: "√R times", 0.5: "does not match"},
    approximation.check_enough: {100: "short", 10000: "fewer", 500: "power of 10"},
    envelopes.check_crossover: {30.9: "give m", 1000: "close", 256: "ρ_c on both sides"},
    descent.check_ratio: {
        0.1: "the larger",
        0.0939: "divided by n",
        1000.0: "in that order",
        "some": "expected a number",
    },
    theorem_1.check_heads_needed: {
        57: "exponent",
        1e17: "power of 2",
        2**40: "too few",
        2**60: "not the smallest",
    },
    self_bounding.check_best_theta: {0.5: "ε = 0", 0.3: "smaller", 0.1: "larger", 1.2: "between 0 and 1"},
    stochastic.check_batch: {5: "counts as well", 10: "one sample fewer", 100: "solve"},
    vacuous.check_floor: {
        64: "a/c",
        0.125: "-0.1",
        0.001: "-0.9",
        -1: "above 0",
        "half": "expected a number",
    },
    headlines.check_records: {
        11.09: "first input",
        11.51: "Euler",
        50000: "far fewer",
        3.0: "add up",
        "rare": "expected a number",
    },
    beyond.check_causal: {
        0.0: "second copy",
        -1 / 3: "first token",
        0.5: "its own token",
        1.0: "equal",
        "e": "expected a number",
    },
    beyond.check_shift: {2.0: "only the m/2", 1.0: "went in twice", 4.0: "divide", -1.0: "above 0"},
    no_logs.check_slope: {1.0: "falls", -0.5: "conspire", -3: "root mean squares"},
    breaks.check_lazy_width: {1024: "cubic", 262144: "one power", 100: "keep"},
    breaks.check_share: {0.25: "in reach", 0.8: "query", 0.5: "variance"},
    linear_model.check_readout_exponent: {0.5: "sign", -1.0: "as it likes", -0.8: "fit log error"},
}


@pytest.mark.parametrize("check", [*FUNCTIONS, *NUMBERS])
def test_a_stub_is_not_yet_judged(check):
    answer = ... if check in NUMBERS else (lambda *arguments: None)
    assert check(answer).state == "not yet"


@pytest.mark.parametrize(
    ("check", "hint"), [(check, hint) for check, hints in FUNCTIONS.items() for hint in hints]
)
def test_a_plausible_mistake_gets_its_hint(check, hint):
    feedback = check(FUNCTIONS[check][hint])
    assert feedback.state == "wrong"
    assert hint in feedback.message


@pytest.mark.parametrize(
    ("check", "number"), [(check, number) for check, numbers in NUMBERS.items() for number in numbers]
)
def test_a_wrong_number_is_told_where_to_look(check, number):
    feedback = check(number)
    assert feedback.state == "wrong"
    assert NUMBERS[check][number] in feedback.message


@pytest.mark.parametrize("number", [torch.tensor(0.9), np.float32(0.9), 0.9])
def test_a_number_may_come_from_any_library(number):
    assert model.check_kept_fraction(number).passed


def test_a_pair_may_be_a_list():
    assert model.check_merge(lambda Q, K, V, u, beta: [V.T @ u, beta * K.T @ Q]).passed


@pytest.mark.parametrize("check", FUNCTIONS)
def test_an_answer_that_raises_is_told_what_it_raised(check):
    def answer(*arguments):
        raise KeyError("token")

    assert "KeyError" in check(answer).message


@pytest.mark.parametrize("check", FUNCTIONS)
def test_the_value_instead_of_the_function_is_explained(check):
    assert check(3.0).state == "wrong"


def test_forming_the_matrix_is_noticed():
    def answer(X, alpha, U):
        Y = X - alpha @ X
        return (Y.T * alpha) @ Y @ U

    assert "d²" in softmax.check_covariance_product(answer).message


def test_forming_the_third_cumulant_is_noticed():
    def answer(X, alpha, U, w):
        Y = X - alpha @ X
        return (Y.T * (alpha * (Y @ U))) @ Y @ w

    assert "d²" in smoothness.check_skewness_product(answer).message


@pytest.mark.parametrize(
    ("answer", "word"),
    [
        (lambda c, U, W: c[:, None] * U / U.norm(dim=1, keepdim=True), "looks at c"),
        (lambda c, U, W: U, "norm 1"),
        (lambda c, U, W: torch.nn.functional.normalize(W[:, 0], dim=1), "not zero"),
        (lambda c, U, W: U[:, 0], "shape"),
        (lambda c, U, W: U.nothing, "AttributeError"),
        (3.0, "give the function"),
    ],
)
def test_an_idle_mapping_that_is_none_is_told_why(answer, word):
    feedback = transportation.check_idle(answer)
    assert feedback.state == "wrong"
    assert word in feedback.message


@pytest.mark.parametrize(
    ("answer", "word"),
    [
        (lambda U: -U[:, 0], "minus the function"),
        (lambda U: torch.ones(len(U), dtype=U.dtype), "by parts"),
        (lambda U: U, "shape"),
        (lambda U: U.nothing, "AttributeError"),
        (1.0, "give the function"),
    ],
)
def test_a_readout_that_does_not_do_what_moving_does_is_told_why(answer, word):
    feedback = transportation.check_readout_for(answer)
    assert feedback.state == "wrong"
    assert word in feedback.message


def test_the_readout_that_does_what_moving_does_passes():
    assert transportation.check_readout_for(lambda U: None).state == "not yet"
    assert transportation.check_readout_for(lambda U: U[:, 0]).passed


@pytest.mark.parametrize(
    ("answer", "word"),
    [
        (lambda losses, eta, rho_c: 0, "got 0"),
        (lambda losses, eta, rho_c: None, "long enough"),
        (lambda losses, eta, rho_c: "soon", "number of steps"),
        (lambda losses, eta, rho_c: 1 / 0, "ZeroDivisionError"),
        (lambda losses, eta, rho_c: 2, "count steps"),
        (lambda losses, eta, rho_c: 3 if len(losses) > 3 else 7, "expected 3"),
    ],
)
def test_a_wrong_contact_is_told_why(answer, word):
    feedback = descent.check_earliest_contact(answer)
    assert feedback.state == "wrong"
    assert word in feedback.message


def test_the_right_contact_passes():
    def right(losses, eta, rho_c):
        length = 0.0
        for step, value in enumerate(losses, start=1):
            length += 2 * eta * float(value) ** 0.5
            if length >= rho_c:
                return step
        return None

    assert descent.check_earliest_contact(right).passed
    assert not descent.check_earliest_contact(3).passed


@pytest.mark.parametrize("options", [{"R": 0}, {"R": 1, "draws": 0}])
def test_a_label_size_needs_anchors_and_draws(options):
    with pytest.raises(ValueError, match="must be a whole number of at least 1"):
        transportation.label_size(**options)


def test_an_idle_mapping_may_be_any_odd_one():
    assert transportation.check_idle(lambda c, U, W: None).state == "not yet"
    assert transportation.check_idle(lambda c, U, W: torch.nn.functional.one_hot(torch.zeros(len(U), dtype=int), U.shape[1]) * U[:, :1].sign()).passed  # fmt: skip


@pytest.mark.parametrize("value", [float("nan"), "text", [1, 2, 3]])
def test_a_strange_value_is_refused_without_raising(value):
    feedback = judge("ex", lambda x: value, lambda x: x, [("the case", (1.0,))], {})
    assert feedback.state == "wrong"
    assert "the case" in feedback.message


def test_feedback_is_readable_as_text_and_as_html():
    feedback = Feedback("ex-a", "wrong", "x < y")
    assert "ex-a" in repr(feedback)
    assert "x &lt; y" in feedback._repr_html_()


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_a_chapter_has_three_exercises_with_folded_tagged_solutions(path):
    text = path.read_text(encoding="utf-8")
    exercises = re.findall(r"^:::\{exercise\}.*\n:label: (\S+)", text, re.MULTILINE)
    assert len(exercises) >= 3, (
        "a chapter has three exercises or more: one to derive, one to code, one to explore"
    )
    assert text.count("\n:class-container: solution\n") == len(exercises)
    solutions = [cell for cell in read_notebook(path).cells if "solution" in cell.metadata.get("tags", ())]
    assert len(solutions) == len(exercises)
    assert all(
        "hide-cell" in cell.metadata["tags"] and "assert feedback.passed" in cell.source for cell in solutions
    )
