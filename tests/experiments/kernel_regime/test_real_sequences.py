"""Sequences of words and of hours: what a sample is, and that a short run stays within its bound."""

import pytest
import torch

from companion.experiments.kernel_regime import real_sequences
from companion.experiments.kernel_regime.real_sequences import KINDS, Config, Paper, sample


@pytest.mark.parametrize("kind", KINDS)
def test_a_sample_lies_in_the_unit_ball_and_its_labels_have_size_one(kind):
    X, y = sample(kind, 0, 12, 16)
    assert X.shape == (12, 16, 8)
    assert 1 - 1e-9 < float(X.norm(dim=-1).max()) <= 1
    assert abs(float(y.mean())) < 1e-12
    assert abs(float(y.square().mean()) - 1) < 1e-12


def test_all_lengths_of_a_sentence_share_query_and_labels():
    long, y = sample("sentences", 3, 12, 24)
    short, same = sample("sentences", 3, 12, 4)
    assert torch.equal(long[:, -4:], short)
    assert torch.equal(y, same)


def test_the_label_of_a_window_is_the_change_eight_hours_after_it():
    short, by_8 = real_sequences.hours(8)
    _long, by_16 = real_sequences.hours(16)
    # The first window without a gap begins at the same hour; 8 hours later its next 8 hours are the long one's second half.
    temperature = _long[0, :, 0]
    assert torch.allclose(temperature[:8], short[0, :, 0])
    assert abs(float(by_8[0] - (temperature[15] - temperature[7]))) < 1e-12
    assert len(by_16) < len(by_8)


def test_more_sequences_than_there_are_are_refused():
    with pytest.raises(ValueError, match="n must be at most"):
        sample("weather", 0, 10_000, 16)


@pytest.mark.parametrize("kind", KINDS)
def test_a_short_run_stays_within_its_bound(kind):
    device = torch.device("cpu")
    row = real_sequences.compute(Config(kind, 4, 0, n=6, steps=5), device)
    assert 0 < row["used"] <= 1
    assert 0 <= row["rank"] <= 1
    assert bool(row["data"]) == (kind != "drawn")
    assert real_sequences.paper_compute(Paper(kind, 0, m=4, n=6, steps=5), device)["used"] <= 1
