"""The step to the nearest point, by a search."""

import torch

from companion.exercises.kernel_regime import theorem_1


def test_the_nearest_step_is_that_of_a_search():
    """V after a step of a linear model, φ̃ at distance z, tried on a grid: f_lin(φ̃) misses the labels by e."""
    generator = torch.Generator().manual_seed(3)
    J, z = (torch.randn(*shape, generator=generator, dtype=torch.float64) for shape in ((4, 3), (3,)))
    for scale in (0.1, 1.0, 30.0):
        e = scale * torch.randn(4, generator=generator, dtype=torch.float64)
        r = e - J @ z  # residuals at φ, where φ̃ = φ + z
        slope = 2 / 4 * J.T @ r
        after = [float((z + eta * slope).square().sum()) for eta in torch.arange(0, 2, 1e-4).double()]
        best = after.index(min(after)) * 1e-4
        assert abs(theorem_1._nearest_step(r, e, float(slope.square().sum())) - best) < 1e-4
