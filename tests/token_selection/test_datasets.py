"""Data sets have the properties that their docstrings promise."""

import numpy as np
import pytest
import torch

from checks import refused, source
from shallowformer.real import images
from shallowformer.token_selection import constants, datasets, descent, gaps, rules, svm
from shallowformer.token_selection.instances import Instance


def test_example_1():
    data = datasets.example_1(40, 5, 200, 7.0, 0.5, source())
    assert data.equal_scores()
    assert data.scores.amax(1).tolist() == pytest.approx([1] * 40)
    assert data.advantages.flatten().tolist() == pytest.approx([1] * 160)
    assert data.best.norm(dim=1).tolist() == pytest.approx([7.0] * 40)
    side = data.best @ data.best.T
    assert torch.equal(side > 1, data.y[:, None] == data.y)
    noise = (data.best[:, None] - data.differences.reshape(40, 4, 200)).flatten(0, 1)
    assert float((noise @ data.best.T).abs().max()) == 0
    assert float(noise.square().mean()) == pytest.approx(0.25 * 198 / 200, rel=0.03)
    assert sorted(set(data.optimal.tolist())) == [0, 1, 2, 3, 4]
    assert constants.upsilon(data) == pytest.approx(np.e)


def test_dm():
    data = datasets.dm(200, 400, 3.0, 0.1, source())
    assert data.best.square().mean().item() == pytest.approx(0.09, rel=0.03)
    assert bool((data.y * (data.best @ data.u) > 0).all())
    assert 60 < int((data.optimal == 0).sum()) < 140
    assert datasets.dm(3, 5, 2.0, 1.0, source(), T=4).T == 4


def test_two_tokens():
    data = datasets.two_tokens(3)
    expected = torch.zeros(3, 3, dtype=torch.float64)
    expected[0, 0] = 1
    assert torch.allclose(svm.w_svm(data).W, expected)
    W0 = datasets.two_tokens_start(-0.5, 1.5)
    assert float(W0.norm() ** 2) == pytest.approx(0.25 + 2.25)
    assert float(W0[0, 0]) == -0.5


def test_bad_direction():
    data = datasets.bad_direction()
    assert data.optimal.tolist() == [0, 0]
    assert data.y.tolist() == [1, -1]


def test_patches_of_shipped_digits():
    shown = images.digits()
    pictures, digits = shown.values, shown.labels
    assert pictures.shape == (1797, 64)
    assert float(pictures.min()) == 0
    assert float(pictures.max()) == 1
    X, y, opt = datasets.patches(30, 4, source(), pictures, digits)
    assert X.shape == (30, 4, 64)
    shown = X[torch.arange(30), opt]
    assert all((pictures == each).all(1).any() for each in shown)
    for each, label in zip(shown, y, strict=True):
        assert int(digits[(pictures == each).all(1)][0]) == (0 if label > 0 else 1)
    rest = X[torch.arange(4).expand(30, -1) != opt[:, None]]
    assert float(rest.norm(dim=1).mean()) == pytest.approx(float(pictures.norm(dim=1).mean()), rel=0.05)
    u = datasets.linear_head(shown, y)
    K = shown @ shown.T
    torch.testing.assert_close(
        u, shown.T @ torch.linalg.solve(K + 1e-3 * K.diagonal().mean() * torch.eye(30, dtype=K.dtype), y)
    )
    many = torch.cat([shown, shown.flip(0) + rest[:30] / 2, rest[30:60]])  # more tokens than entries
    ys = torch.cat([y, y.flip(0), y])
    head = datasets.linear_head(many, ys)
    slope = many.T @ (ys - many @ head) - 1e-3 * many.square().sum(1).mean() * head
    assert float(slope.abs().max()) < 1e-10
    assert bool((torch.sign(shown @ u) == y).all())
    data = Instance(X, y, u, opt=opt)
    assert svm.w_svm(data).margin > 0
    if bool((data.advantages > 0).all()):
        run = descent.run(gaps.problem(data), rules.NGD(0.01), 200)
        assert float(run.one_minus_corr[-1]) < float(run.one_minus_corr[1])


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: datasets.example_1(2, 1, 5, 1.0, 1.0, source()), ("T", "1", "at least 2")),
        (lambda: datasets.example_1(2, 2, 2, 1.0, 1.0, source()), ("d", "2", "at least 3")),
        (
            lambda: datasets.patches(2000, 4, source(), images.digits().values, images.digits().labels),
            ("n", "2000", "at most the"),
        ),
    ],
)
def test_arguments_out_of_range(make, said):
    refused(*said, make)
