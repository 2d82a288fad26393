"""Right answers pass, as the run itself gives them anew."""

import torch

from companion.exercises.kernel_regime import linear_run


def test_what_is_left_after_very_many_steps_passes():
    def unfitted(G, y):
        step = torch.eye(len(y), dtype=y.dtype) - G / G.trace()  # 2ηλ at most 1
        return float((torch.linalg.matrix_power(step, 10**6) @ y).square().mean().sqrt())

    assert linear_run.check_unfitted(unfitted).passed


def test_the_least_departure_found_on_a_grid_passes():
    def departure(before, now, after):
        E = torch.linspace(0, 1, 1_000_001, dtype=torch.float64)
        possible = (now - E).clamp(min=0) ** 2 <= (before + E) * (after + E) + 1e-15
        return float(E[possible][0])

    told = linear_run.check_departure(departure)
    assert told.state == "wrong"  # a grid is no formula, but off by its step at most
    for case in ((1.0, 1.0, 0.5), (1.0, 0.5, 0.4), (0.8, 0.9, 0.3)):
        assert abs(departure(*case) - linear_run.departure(*case)) < 2e-6


def test_roots_of_a_linear_run_s_losses_prove_no_departure():
    draw = torch.Generator().manual_seed(2)
    for _ in range(50):
        sizes, y = (torch.randn(6, generator=draw, dtype=torch.float64) for _ in range(2))
        roots = [float(((1 - 2 * sizes.abs()) ** s * y).norm()) for s in range(6)]
        for three in zip(roots, roots[1:], roots[2:], strict=False):
            assert linear_run.departure(*three) < 1e-12 * three[1]


def test_a_projection_by_pinv_passes_and_a_zero_kernel_learns_nothing():
    def unfitted(G, y):
        return (y - torch.linalg.pinv(G, hermitian=True) @ G @ y).square().mean().sqrt()

    assert linear_run.check_unfitted(unfitted).passed
    zero, ones = torch.zeros(4, 4, dtype=torch.float64), torch.ones(4, dtype=torch.float64)
    assert linear_run.unfitted(zero, ones) == 1


def test_a_bound_by_the_arithmetic_mean_is_told_that_it_is_not_the_best():
    told = linear_run.check_departure(lambda a, b, c: max(0.0, (2 * b - a - c) / 4)).told
    assert "not the best" in told
    for case in ((1.0, 1.0, 0.5), (0.8, 0.9, 0.3)):
        a, b, c = case
        assert (2 * b - a - c) / 4 < linear_run.departure(*case)
