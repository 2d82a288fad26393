"""Scores of predictions: what speaks, what is right, and that nobody is right about a run that has diverged."""

import math

import numpy as np
import pytest

from companion.theory.one_layer import scores
from companion.theory.one_layer.prediction import interval_score

ROW = {
    "truth": [[1.0, 0.5, scores.SILENT], [1.0, 0.2, 0.1]],
    "voices": {
        "kernel forecast": {"low": [[1.0, 0.4, 0.3], [1.0, 0.3, scores.SILENT]], "high": [[1.0, 0.6, 0.4], [1.0, 0.4, scores.SILENT]]},
        "kernel theorem": {"low": [[1.0, 0.45, 0.0], [1.0, 0.0, 0.0]], "high": [[1.0, 0.55, 0.9], [1.0, 0.4, 0.2]]},
    },
}  # fmt: skip
VOICES = list(ROW["voices"])


def test_a_diverged_run_is_in_no_interval_and_a_wide_interval_is_silence():
    spoke, correct = scores.right(ROW, "kernel forecast")
    assert spoke.tolist() == [[True, True, True], [True, True, False]]
    assert correct.tolist() == [[True, True, False], [True, False, False]]
    assert scores.right(ROW, "kernel theorem")[0].tolist() == [[True, True, False], [True, True, True]]


def test_a_score_counts_what_is_said_after_the_start():
    found = scores.score([ROW], "kernel forecast")
    assert (found.asked, found.spoke, found.held) == (4, 3, 1)
    assert found.width == pytest.approx(0.1)
    assert math.isinf(found.interval)
    assert math.isnan(scores.score([ROW], "residual theorem").coverage)


def test_the_sharpest_is_the_narrowest_that_is_right():
    assert scores.sharpest(ROW, VOICES).tolist() == [[0, 1, -1], [0, 1, 1]]
    assert scores.of_most(np.array([[0, 1, -1], [0, 1, 1], [1, -1, -1]])).tolist() == [0, 1, -1]


def test_the_interval_score_is_width_and_twenty_times_a_miss():
    assert interval_score(0.2, 0.5, 0.3) == pytest.approx(0.3)
    assert interval_score(0.2, 0.5, 0.6) == pytest.approx(0.3 + 20 * 0.1)
    assert interval_score(0.2, 0.5, 0.1) == pytest.approx(0.3 + 20 * 0.1)
    assert interval_score(0.2, 0.5, math.inf) == math.inf
