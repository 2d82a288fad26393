"""The proof of Theorem 1 at an iterate: its quantities by automatic differentiation, its lines along runs, its balance."""

import itertools
from dataclasses import replace

import pytest
import torch
from torch import Generator

from checks import assert_agrees, refused
from companion.theory.kernel_regime import budget, comparison
from shallowformer import activations, data, queries
from shallowformer.kernel_regime.convergence import change_of_features, descent, theorem_1
from shallowformer.kernel_regime.model import gradients, linear_model, parameters, transformer
from shallowformer.kernel_regime.model.loss import Loss
from shallowformer.kernel_regime.model.parameters import Parameters
from shallowformer.kernel_regime.neighbourhood import region


def problem(m=6, d=3, n=5, seed=0):
    generator = Generator().manual_seed(seed)
    X = data.clipped_gaussian(n, 4, d, generator)
    y = torch.randn(n, generator=generator, dtype=torch.float64)
    return X, y, *(parameters.random(m, d, generator) for _ in range(3))


@pytest.mark.parametrize("sigma", [activations.TANH, activations.LOGISTIC], ids=lambda sigma: sigma.name)
@pytest.mark.parametrize("query", [queries.last_token, queries.seeded(3, 1)], ids=["last", "seeded"])
def test_every_quantity_by_automatic_differentiation(sigma, query):
    X, y, phi, phi0, tilde = problem()
    terms = comparison.Comparison(X, y, phi0, tilde, query, sigma).at(phi)
    f = lambda c, U, W: transformer.f(X, Parameters(c, U, W), query, sigma)
    step = [b - a for a, b in zip(phi.blocks, tilde.blocks, strict=True)]
    at, at0 = (torch.autograd.functional.jacobian(f, p.blocks) for p in (phi, phi0))
    along = lambda jacobian: sum((j * s).flatten(1).sum(1) for j, s in zip(jacobian, step, strict=True))
    lin = lambda p: linear_model.f_lin(X, p, phi0, query, sigma)
    here, there = f(*phi.blocks), f(*tilde.blocks)
    for actual, expected in (
        (terms.residual, here - y),
        (terms.app, lin(tilde) - y),
        (terms.lin, here - lin(phi)),
        (terms.cof, along(at) - along(at0)),
        (terms.lin_there, there - lin(tilde)),
        (terms.rem, there - here - along(at)),
        (terms.squares, sum(j.flatten(1).square().sum(1) for j in at)),
        (terms.distance, sum(s.square().sum() for s in step)),
    ):
        assert_agrees(actual, expected, 10)
    loss, gradient = gradients.loss_and_gradient(X, y, phi, query, sigma)
    assert_agrees(terms.loss, loss, 10)
    for actual, expected in zip(terms.gradient.blocks, gradient.blocks, strict=True):
        assert_agrees(actual, expected, 10)
    assert_agrees(terms.ascent, sum((a * b).sum() for a, b in zip(gradient.blocks, step, strict=True)), 10)
    assert_agrees(terms.slope, sum(block.square().sum() for block in gradient.blocks), 10)


@pytest.mark.parametrize("sigma", [activations.TANH, activations.LOGISTIC], ids=lambda sigma: sigma.name)
@pytest.mark.parametrize("query", [queries.last_token, queries.seeded(3, 1)], ids=["last", "seeded"])
def test_every_quantity_of_a_head_by_automatic_differentiation(sigma, query):
    X, y, phi, phi0, tilde = problem()
    heads = comparison.Comparison(X, y, phi0, tilde, query, sigma).heads(phi)
    f = lambda c, U, W: transformer.f(X, Parameters(c, U, W), query, sigma)
    flat = lambda blocks: torch.cat([block.reshape(*block.shape[:2], -1) for block in blocks], -1)
    at, at0 = (flat(torch.autograd.functional.jacobian(f, p.blocks)) for p in (phi, phi0))
    away = flat([(b - a)[None] for a, b in zip(phi.blocks, tilde.blocks, strict=True)])[0]
    turned = at - at0
    for actual, expected in (
        (heads.products, (turned * away).sum(-1)),
        (heads.change_c, turned[..., 0].abs()),
        (heads.change_theta, turned[..., 1:].norm(dim=-1)),
        (heads.change, turned.norm(dim=-1)),
        (heads.gradient, at.norm(dim=-1)),
        (heads.away, away.norm(dim=-1)),
    ):
        assert_agrees(actual, expected, 10)


def test_the_lines_about_heads():
    X, y, _, _, tilde = problem(m=8)
    phi0 = parameters.symmetric(8, 3, Generator().manual_seed(3))
    tilde = region.project(tilde, phi0, (0.1, 0.1, 0.1))
    proof = comparison.Comparison(X, y, phi0, tilde)
    phi = region.random_boundary(phi0, (3.0, 3.0, 3.0), Generator().manual_seed(5))
    B = float(region.longest(phi0, 3.0).max())
    bounds = change_of_features.heads_paper(B, (3.0, 3.0, 3.0), (0.1, 0.1, 0.1), 8)
    terms, heads = proof.at(phi), proof.heads(phi)
    sides = comparison.head_lines(terms, heads, bounds)
    assert list(sides) == ["30", "31", "32", "35", "36", "37", "40"]
    assert all(0 < float(left) <= float(right) * (1 + 1e-12) for left, right in sides.values())
    assert_agrees(heads.products.sum(1), terms.cof, 10)
    assert_agrees(heads.gradient.square().sum(1), terms.squares, 10)
    quotients = terms.cof.abs() / heads.products.abs().sum(1)
    assert_agrees(sides["30"][0] / sides["30"][1], quotients.max(), 10)
    nothing = comparison.head_lines(proof.at(phi0), proof.heads(phi0), bounds)
    assert all(float(left) <= float(right) for left, right in nothing.values())


@pytest.mark.parametrize("rho", [(0.1, 0.2, 0.3), None])
def test_what_a_projection_takes_off_the_distance(rho):
    X, y, phi, phi0, tilde = problem()
    near = lambda p: p if rho is None else region.project(p, phi0, rho)
    phi, tilde = near(phi), near(tilde)
    proof = comparison.Comparison(X, y, phi0, tilde)
    terms = proof.at(phi)
    step = Parameters(*(a - 0.7 * b for a, b in zip(phi.blocks, terms.gradient.blocks, strict=True)))
    expected = parameters.squared_distance(step, tilde) - parameters.squared_distance(near(step), tilde)
    pulled = proof.pulled(phi, terms, 0.7, rho)
    assert_agrees(pulled, expected, 10)
    assert float(pulled) >= float(parameters.squared_distance(step, near(step))) * (1 - 1e-12)


def course(rho, eta):
    X, y, _, _, tilde = problem(m=8)
    phi0 = parameters.symmetric(8, 3, Generator().manual_seed(3))
    tilde = region.project(tilde, phi0, (0.1, 0.1, 0.1))
    proof, seen = comparison.Comparison(X, y, phi0, tilde), []

    def observe(step, students):
        terms = proof.at(students[0])
        seen.append((terms, proof.pulled(students[0], terms, eta, rho)))
        return {}

    run = descent.run(Loss(X, y), phi0, eta=eta, steps=12, rho=rho, every=1, observe=observe)
    sheet = budget.Sheet([budget.entry(*each) for each in seen[:-1]], float(seen[-1][0].distance), eta)
    return run, seen, sheet, phi0


@pytest.mark.parametrize(("rho", "eta"), [((0.1, 0.1, 0.1), 0.5), ((3.0, 3.0, 3.0), 0.1), (None, 0.1)])
def test_the_sheet_balances_and_its_ladders_descend_to_it(rho, eta):
    run, _, sheet, phi0 = course(rho, eta)
    assert_agrees(torch.tensor([sheet.loss], dtype=torch.float64), run.step_losses.mean(0), 10)
    assert sheet.width + sheet.optimisation == pytest.approx(sheet.loss, rel=1e-12)
    radii = (3.0, 3.0, 3.0) if rho is None else rho
    paper = theorem_1.paper(5, 3, 8, radii, (0.1, 0.1, 0.1), 0.05, 0.05)
    sharp = replace(theorem_1.sharp(phi0, radii, (0.1, 0.1, 0.1), 0.05), y_max=10.0, app=10.0)
    for ladder, exact in (
        (budget.width(sheet, paper, sharp), sheet.width),
        (budget.optimisation(sheet, paper, sharp), sheet.optimisation),
    ):
        values = list(ladder.values())
        assert values[-1] == exact
        assert all(exact <= value for value in values[1:])


def test_the_lines_of_the_proof():
    _, seen, _, _ = course((3.0, 3.0, 3.0), 0.1)
    c = replace(theorem_1.paper(5, 3, 8, (3.0, 3.0, 3.0), (0.1, 0.1, 0.1), 0.05, 0.05), y_max=10.0, app=10.0)
    for (terms, _), (after, _) in itertools.pairwise(seen):
        sides = comparison.lines(terms, after.distance, c, 0.1)
        assert list(sides) == ["24", "28", "29", "38", "39", "41", "42", "43"]
        assert all(float(left) <= float(right) * (1 + 1e-12) for left, right in sides.values())
        assert_agrees(sides["24"][0], sides["24"][1])
        by_hand = -2 * terms.loss + 2 * c.envelope * (c.app + c.lin + c.cof)
        assert_agrees(sides["39"][1], by_hand)


def test_wrong_arguments_are_refused():
    X, y, _, phi0, tilde = problem()
    refused("y", "(4,)", "(5,)", comparison.Comparison, X, y[:4], phi0, tilde)
    refused("entries", "none", "at least one", budget.Sheet, [], 1.0, 0.1)
