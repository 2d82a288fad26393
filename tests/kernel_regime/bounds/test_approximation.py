import math

import numpy as np
import pytest
import torch

from shallowformer import activations, data, queries
from shallowformer.kernel_regime.bounds import approximation
from shallowformer.kernel_regime.kernel import mappings, transportation
from shallowformer.kernel_regime.model import gradients, parameters
from shallowformer.probability import dominated

NU = (3.0, 2.0, 1.0)


def test_the_three_versions_of_lemma_5():
    sigma = activations.ERF
    root = math.sqrt(2 * math.log(2 * 50 / 0.1) / 64)
    s0, s1, s2, _ = sigma.bounds
    assert approximation.main_text(NU, 50, 64, 0.1, sigma) == pytest.approx(2 * (3 * s0 + 2 * s1 + s2) * root)
    assert approximation.appendix(NU, 50, 64, 0.1, sigma) == pytest.approx(2 * (3 * s0 + 3 * s1) * root)
    assert approximation.sharp(NU, 50, 64, 0.1, sigma) == pytest.approx(math.sqrt(2) * (3 * s0 + (2 + 1.26838) * s1) * root)  # fmt: skip


def test_the_version_without_n():
    level = math.log(2 / 0.1) / 64
    assert approximation.rms_bernstein(NU, 64, 0.1) == pytest.approx(6 * (2 * math.sqrt(level) + 3 * level))


def test_the_certified_constant_is_the_one_in_use():
    assert dominated.certificate() <= approximation.S_STAR < 1.2684


def test_moments_of_the_hilbert_space_bound():
    """What the proof of the root mean square bound uses, for every p up to 60."""
    gamma = lambda p: math.exp((p / 2 * math.log(2) + math.lgamma((p + 1) / 2) - math.log(math.pi) / 2) / p)
    for p in range(4, 61):
        assert (gamma(p) + math.sqrt(2 / math.pi)) ** p <= math.factorial(p) / 2 * 1.5 ** (p - 2)
        assert gamma(p) + math.sqrt(2 / math.pi) > 2
    assert math.sqrt((gamma(4) + math.sqrt(2 / math.pi)) ** 4) < 4.5
    assert np.isclose(math.e / 8 * (math.sqrt(7) + math.sqrt(2 / math.pi)), 1.1701, atol=1e-3)


@pytest.mark.parametrize(
    "query", [queries.last_token, queries.fixed(torch.tensor([0.6, 0.8], dtype=torch.float64))]
)
@pytest.mark.parametrize("sigma", activations.ALL)
def test_heads_are_as_lipschitz_in_the_tokens_as_the_book_says(query, sigma):
    generator = torch.Generator().manual_seed(5)
    X = data.clipped_gaussian(40, 3, 2, generator)
    nearby = X + 1e-3 * data.clipped_gaussian(40, 3, 2, generator)
    nearby /= nearby.norm(dim=-1, keepdim=True).clamp(min=1)
    phi = parameters.random(200, 2, generator)
    here, there = (gradients.features(inputs, phi, query, sigma) for inputs in (X, nearby))
    steps = ((here.c - there.c).abs(), (here.u - there.u).norm(dim=-1), (here.w - there.w).flatten(2).norm(dim=-1))  # fmt: skip
    r, w = phi.U.norm(dim=-1), torch.linalg.matrix_norm(phi.W, 2)
    apart = (X - nearby).norm(dim=-1).amax(-1)[:, None]
    for nu in ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), NU):
        change = sum(norm * step for norm, step in zip(nu, steps, strict=True))
        assert (change <= approximation.slope_in_inputs(r, w, nu, sigma) * apart).all()


def test_the_bound_for_all_inputs_at_once():
    slope = (1 + 4 * 2) * (3 * 2 + (1 + 2 * activations.TANH.bounds[2]) * 2 + 4 * activations.TANH.bounds[2])
    slope += (5 + 12 * 2) * 2
    entropy = 4 * 3 * math.log(1 + 2 * 64 / 0.1) + math.log(4 / 0.1)
    size = math.sqrt(2) * (5 + approximation.S_STAR)
    assert approximation.everywhere(NU, 4, 3, 64, 0.1) == pytest.approx(size * math.sqrt(2 * entropy / 64) + 3 * slope / 64)  # fmt: skip


def test_every_draw_of_a_list_of_heads_has_the_second_moment_of_the_lemma():
    """E‖e‖² = (2/m) mean Var ḡ, exactly, for heads drawn uniformly from a list of six."""
    generator = torch.Generator().manual_seed(1)
    v = mappings.zero_target((1.0, 1.0, 1.0))
    answers = transportation.g(
        data.clipped_gaussian(4, 3, 2, generator), parameters.random(6, 2, generator), v
    )
    for pairs in (1, 2, 3):
        chosen = torch.cartesian_prod(*[torch.arange(6)] * pairs).reshape(-1, pairs)
        e = answers[:, chosen].mean(-1) - answers.mean(1, keepdim=True)
        assert float(e.pow(2).mean()) == pytest.approx(float(answers.var(1, correction=0).mean()) / pairs, rel=1e-12)  # fmt: skip
