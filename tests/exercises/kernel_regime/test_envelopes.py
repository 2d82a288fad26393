"""Of spectra of trace one the flat one sees least."""

import torch

from companion.exercises.kernel_regime import envelopes


def test_no_drawn_spectrum_of_trace_one_sees_less():
    draw = torch.Generator().manual_seed(0)
    U = torch.randn(20_000, 3, generator=draw, dtype=torch.float64)
    mu = torch.rand(50, 3, generator=draw, dtype=torch.float64)
    mu = torch.cat([mu / mu.sum(1, keepdim=True), torch.full((1, 3), 1 / 3, dtype=torch.float64)])
    means = (mu[:, None] * U).norm(dim=-1).mean(1)
    assert means.argmin() == 50
    assert abs(float(means[50]) - float(U.norm(dim=1).mean()) / 3) < 1e-12
    assert envelopes.check_least_seen(2 * (2 / torch.pi) ** 0.5 / 3).passed
