"""A number that no declared mistake leads to is told where to look."""

import pytest
import torch

from companion.exercises.kernel_regime import envelopes


@pytest.mark.parametrize(
    ("number", "word"),
    [
        (1000, "close"),
        (256, "ρ_c on both sides"),
    ],
)
def test_crossover_is_told_where_to_look(number, word):
    feedback = envelopes.check_crossover(number)
    assert feedback.state == "wrong"
    assert word in feedback.told


def test_no_drawn_spectrum_of_trace_one_sees_less():
    draw = torch.Generator().manual_seed(0)
    U = torch.randn(20_000, 3, generator=draw, dtype=torch.float64)
    mu = torch.rand(50, 3, generator=draw, dtype=torch.float64)
    mu = torch.cat([mu / mu.sum(1, keepdim=True), torch.full((1, 3), 1 / 3, dtype=torch.float64)])
    means = (mu[:, None] * U).norm(dim=-1).mean(1)
    assert means.argmin() == 50
    assert abs(float(means[50]) - float(U.norm(dim=1).mean()) / 3) < 1e-12
    assert envelopes.check_least_seen(2 * (2 / torch.pi) ** 0.5 / 3).passed
