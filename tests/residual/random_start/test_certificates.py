"""Certificates: the comparison system, the march, the closed form, the search for widths, and runs beside them."""

from dataclasses import replace

import pytest
import torch

from checks import refused
from companion.theory.residual import closed, width
from shallowformer.residual import gradients
from shallowformer.residual.parameters import Parameters
from shallowformer.residual.random_start import certify, linear_run, slopes, start, watch
from shallowformer.residual.random_start.slopes import Budgets
from shallowformer.residual.spectra import stacked

STARTS = [{"tau": 0.0}, {"tau": 0.3}, {"tau": 0.3, "W_2": 1.0, "d_1": 1500}, {"tau": 0.0, "g_f": 0.0}]


@pytest.mark.parametrize("given", STARTS)
def test_no_bound_is_exceeded_along_a_run(posed, given, long):
    problem = posed(**given)
    s = start.measure(*problem)
    known = certify.certify(s)
    assert known.holds, known.why
    seen = watch.compare(*problem, s, known, steps=300, stop=1e-3)
    assert max(seen.used.values()) <= 1 + 1e-9
    assert seen.faster > 1
    assert float(seen.errors[-1]) < 1e-3 * s.e or len(seen.errors) == 301
    assert float(seen.places[-1]) < known.X


def test_the_watch_counts_the_steps_of_plain_descent(posed, long):
    X, Y, theta, setting = problem = posed()
    s = start.measure(*problem)
    known = certify.certify(s)
    seen = watch.compare(*problem, s, known, steps=130, stop=1e-30)
    W, x = theta, 0.0
    for t in range(130):
        now = gradients.unchecked(X, Y, W, setting)
        assert float(seen.errors[t]) == pytest.approx(float((2 * now.loss).sqrt()), rel=1e-9)
        assert float(seen.places[t]) == pytest.approx(x, rel=1e-9)
        x += known.mu * float(now.E.norm())
        W = Parameters(*(part - known.mu * slope for part, slope in zip(W, now.gradients, strict=True)))
    assert len(seen.errors) == 131


def test_all_slopes_grow_with_budgets_and_fall_with_the_area(measured):
    s = measured()
    budgets = Budgets(*(0.01 * (k + 1) for k in range(len(Budgets._fields))))
    low = slopes.slopes(s, budgets, 0.01, 0.1)
    for name in Budgets._fields:
        more = slopes.slopes(s, budgets._replace(**{name: 1.5 * getattr(budgets, name)}), 0.01, 0.1)
        assert all(b >= a * (1 - 1e-12) for a, b in zip(low.grows, more.grows, strict=True))
        assert more.alpha <= low.alpha + 1e-9
    later = slopes.slopes(s, budgets, 0.01, 0.2)
    assert all(b <= a for a, b in zip(low.grows, later.grows, strict=True))
    assert slopes.slopes(s, budgets._replace(A=s.sigma_A), 0.01, 0.1) is None


def test_cells_close_and_the_area_is_what_they_sum_to(measured):
    s = measured()
    known = certify.certify(s)
    cells, step = known.cells, known.mu * s.e
    for before, cell, after in zip((cells[0], *cells), cells, cells[1:], strict=False):
        length = after.x - cell.x
        assert length >= step * (1 - 1e-9)
        ends = Budgets(
            *(b + (length + step) * k for b, k in zip(cell.budgets, cell.slopes.grows, strict=True))
        )
        again = slopes.slopes(s, ends, after.x + step, before.area)
        assert all(a <= b * (1 + 1e-6) for a, b in zip(again.grows, cell.slopes.grows, strict=True))
        assert cell.alpha <= again.alpha * (1 + 1e-6)
        assert after.area == pytest.approx(cell.area + length * cell.alpha)
        assert after.alpha <= cell.alpha
    assert cells[-2].area < known.distance <= cells[-1].area
    assert cells[-1].x == pytest.approx(known.X)
    assert known.budgets == cells[-1].budgets


def test_what_gives_way_is_said(measured):
    s = measured(tau=0.0)
    assert "outweigh W_2" in certify.certify(measured(tau=0.0, d_1=20, seed=2)).why
    assert "reach 0" in certify.certify(width.widened(s, 0.01)).why
    assert not certify.certify(replace(s, psi=100 * s.psi, e=100 * s.e, q=100 * s.q, q_2=100 * s.q_2)).holds
    refused("margin", "1.0", "above 1", certify.certify, s, margin=1.0)


def test_steps_that_are_rounding_are_not_compared(posed):
    """One token: all eigenvalues are equal, and within a chunk of steps the error is rounding."""
    X, Y, theta, setting = posed(N=1, tau=0.0)
    theta = theta._replace(W_1=3 * theta.W_1)
    s = start.measure(X, Y, theta, setting)
    known = certify.certify(s, margin=1.1)
    seen = watch.compare(X, Y, theta, setting, s, known, steps=100)
    assert float(seen.errors[-1]) < 1e-12 * s.e
    assert max(seen.used.values()) <= 1 + 1e-6


def test_a_certificate_that_does_not_hold_is_not_run(posed):
    problem = posed(d_1=20, seed=2)
    s = start.measure(*problem)
    refused("certificate", "does not", "must hold", watch.compare, *problem, s, certify.certify(s))


def test_relu_scales_with_its_first_layer(posed):
    """W_1 → cW_1 gives the same certificate as c² times the width does on average."""
    X, Y, theta, setting = posed(tau=0.0)
    s = start.measure(X, Y, theta, setting)
    large = start.measure(X, Y, theta._replace(W_1=3 * theta.W_1), setting)
    wide = width.widened(s, 9.0)
    for name in ("sigma_A", "a", "w", "psi", "q", "q_2"):
        assert getattr(wide, name) == pytest.approx(getattr(large, name), rel=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_the_closed_form_implies_the_certificate_at_a_better_rate(measured, seed):
    s = measured(tau=0.0, seed=seed)
    s = width.widened(s, width.factor(s, lambda at: max(closed.conditions(at)) <= 1))
    known = certify.certify(s, margin=25 / 16)
    assert known.holds
    assert known.alpha >= closed.RATE * s.rate
    assert known.X * s.rate / s.e <= 6.75


def test_the_least_factor_is_found_from_both_sides(measured):
    s = measured()
    for wanted in (3e-4, 0.7, 1.0, 41.0):
        holds = lambda at, wanted=wanted: at.sigma_A >= s.sigma_A * wanted**0.5
        assert width.factor(s, holds, 1e-4) == pytest.approx(wanted, rel=2e-4)
    refused("holds", "none", "must hold at some width", width.factor, s, lambda at: False)


def test_the_smallest_width_is_certified_and_the_one_below_is_not(posed):
    at = lambda d_1: start.measure(*posed(d_1=d_1, tau=0.0))
    found, known = width.smallest(at, 500)
    assert known.holds
    assert certify.certify(at(found)).holds
    assert not certify.certify(at(int(found / 1.06))).holds
    assert width.smallest(at, 500, most=10) is None
    refused("ratio", "1.0", "above 1", width.smallest, at, 500, ratio=1.0)


def test_the_bound_on_failures_is_refused_out_of_range():
    assert closed.failure(3, 1000, 0.5, 1.0, 1.0) == pytest.approx(3 * 2.718281828 ** (-250 / 79))
    refused("lam", "0.0", "above 0", closed.failure, 3, 1000, 0.0, 1.0, 1.0)


def test_bounds_along_the_linear_run_hold_and_are_met_at_its_ends(posed):
    X, Y, theta, setting = posed(d_1=9, W_2=1.0, P=1, N=3, d=4, K=2)
    s = start.measure(X, Y, theta, setting)
    now = gradients.backward(X, Y, theta, setting)
    A, E, U, R = stacked(now.forward.A), stacked(now.E), theta.W_U, theta.W_2 @ theta.W_U
    slope = stacked(setting.activation.first(now.forward.pre))
    norm = lambda M: float(torch.linalg.matrix_norm(M, 2))
    mu, start_R, largest = 0.9 / (s.a * s.u) ** 2, R, {"r": 0.0, "h": 0.0, "n_B": 0.0}
    for _ in range(300):
        error = E + A @ (R - start_R)
        seen = {
            "r": norm(R),
            "h": norm((error + stacked(Y)) @ torch.linalg.pinv(U)),
            "n_B": max(norm(setting.g_f * U.mT + (R.mT * row) @ theta.W_1.mT) for row in slope),
        }
        for name, value in seen.items():
            assert value <= getattr(s.linear, name) * (1 + 1e-9)
            largest[name] = max(largest[name], value)
        R = R - mu * A.mT @ error @ (U.mT @ U)
    assert all(value > 0.3 * getattr(s.linear, name) for name, value in largest.items())
    assert s.linear.nu == pytest.approx(max(norm(theta.W_1 * row) for row in slope))
    fourth = torch.einsum("aj,bj,cj,dj->abcd", *[theta.W_1] * 4).reshape(16, 16)
    assert s.linear.m_4**2 == pytest.approx(norm(fourth))


def test_columns_are_added_up_in_pieces(posed, monkeypatch):
    problem = posed(d_1=50, W_2=1.0)
    whole = start.measure(*problem).linear
    monkeypatch.setattr(linear_run, "COLUMNS", 7)
    for name, value in vars(start.measure(*problem).linear).items():
        assert value == pytest.approx(getattr(whole, name), rel=1e-9)
