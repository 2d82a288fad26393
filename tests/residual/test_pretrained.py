"""A head on features: descent against autograd; means, spreads and attention against loops and closed forms; on tiny networks made here."""

import math

import pytest
import torch

from checks import refused, unchecked
from companion.theory.residual import pretrained
from shallowformer.real import transformer
from shallowformer.real.source import Source
from shallowformer.real.transformer import Block, Transformer

V, D, T, HEADS, L = 11, 8, 6, 2, 3


def tiny(norm_first=False, seed=0):
    generator = torch.Generator().manual_seed(seed)
    draw = lambda *shape: 0.4 * torch.randn(*shape, generator=generator, dtype=torch.float64)
    pair = lambda *shape: (draw(*shape), draw(shape[1]))
    norm = lambda: (1 + draw(D), draw(D))
    square = lambda: pair(D, D)
    blocks = tuple(
        Block(square(), square(), square(), square(), norm(), pair(D, 4 * D), pair(4 * D, D), norm())
        for _ in range(L)
    )
    return Transformer(draw(V, D), draw(T, D), blocks, norm(), HEADS, norm_first, Source("", "", "", ""))


def sentences():
    return transformer.padded([[1, 2, 3, 4, 5, 6], [7], [8, 9, 10], [2, 1]])


@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("size", [1, 3, 50])
def test_features_are_those_of_each_sentence_by_itself(norm_first, size):
    model, (ids, mask) = tiny(norm_first), sentences()
    F, spreads = pretrained.features(model, ids, mask, 0.7, size)
    assert F.shape == (L + 1, 4, D)
    for row, seen in enumerate(mask.sum(1).tolist()):
        alone = torch.ones(1, seen, dtype=torch.bool)
        for depth, h in enumerate(transformer.stream(model, ids[[row], :seen], alone, 0.7)):
            if norm_first:
                h = torch.nn.functional.layer_norm(h, (D,), *model.norm, eps=1e-5)
            expected = h[0, -1] if norm_first else h[0].mean(0)
            assert torch.allclose(F[depth, row], expected, atol=1e-12)
            away = math.sqrt(sum(float((token - h[0].mean(0)).square().sum()) for token in h[0]))
            assert float(spreads[depth, row]) == pytest.approx(away / float(h[0].norm()), abs=1e-12)


def test_spread_is_0_of_equal_tokens_and_1_of_opposite_ones():
    token = torch.ones(1, 1, D, dtype=torch.float64)
    mask = torch.tensor([[True, True, False]])
    for sign, expected in ((1, 0), (-1, 1)):
        h = torch.cat([token, sign * token, 100 * token], 1)
        assert float(pretrained.spread(h, mask)) == pytest.approx(expected, abs=1e-12)
        assert torch.allclose(pretrained.pooled(h, mask)[0], (1 + sign) / 2 * token[0, 0])
        assert torch.equal(pretrained.last(h, mask)[0], sign * token[0, 0])


@pytest.mark.parametrize("g", [0.25, 2.0])
def test_with_the_norm_last_a_coefficient_divides_what_is_added(g):
    ids, mask = sentences()
    model = tiny()
    for a, b in zip(
        transformer.stream(model, ids, mask, g),
        transformer.stream(pretrained.rescaled(model, g), ids, mask),
        strict=True,
    ):
        assert torch.allclose(a[mask], b[mask], atol=1e-9)


def test_shuffled_matrices_have_the_same_entries_and_norms_are_left():
    model = tiny()
    other = pretrained.shuffled(model, torch.Generator().manual_seed(0))
    for a, b in zip(model.blocks, other.blocks, strict=True):
        for name in ("query", "key", "value", "out", "inner", "outer"):
            (M, bias), (M_, bias_) = getattr(a, name), getattr(b, name)
            assert not torch.equal(M, M_)
            assert torch.equal(M.flatten().sort().values, M_.flatten().sort().values)
            assert torch.equal(bias, bias_)
        assert a.norm is b.norm
        assert a.second is b.second


def test_attention_comes_from_these_logits():
    model, block = tiny(), tiny().blocks[0]
    h = torch.randn(1, T, D, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    S = torch.softmax(pretrained.logits(model, block, h), -1)
    values = (h @ block.value[0] + block.value[1]).reshape(1, T, HEADS, -1)
    seen = torch.einsum("nhij,njhk->nihk", S, values).reshape(1, T, D) @ block.out[0] + block.out[1]
    every = torch.ones(1, 1, 1, T, dtype=torch.bool)
    assert torch.allclose(seen, transformer.attention(model, block, h, every), atol=1e-12)


def test_the_anatomy_of_a_block_against_its_definitions():
    model, block = tiny(), tiny().blocks[1]
    X = torch.randn(T, D, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
    found = pretrained.anatomy(model, block, X, (0.0, 2.0))
    centre = torch.eye(T, dtype=torch.float64) - 1 / T
    A = transformer.attention(model, block, X[None], torch.ones(1, 1, 1, T, dtype=torch.bool))[0]
    for head, L_ in enumerate(pretrained.logits(model, block, X[None])[0]):
        S = torch.softmax(L_, -1)
        assert found["range"][head] == pytest.approx(max(float(row.max() - row.min()) for row in L_))
        assert found["distance"][head] == pytest.approx(float((S - 1 / T).norm()))
        assert found["left"][head] == pytest.approx(float(torch.linalg.matrix_norm(centre @ S @ centre, 2)))
        assert found["distance"][head] <= found["bound"][head] <= float((L_ @ centre).norm()) / 2 + 1e-12
    assert found["size"] == [pytest.approx(float(A.norm() / X.norm()))]
    assert found["spreads"] == pytest.approx([float((centre @ M).norm() / M.norm()) for M in (X, A)])
    assert found["condition"] == pytest.approx([float(torch.linalg.cond(g * X + A)) for g in (0.0, 2.0)])
    assert found["certain"] == [
        pytest.approx(float(torch.linalg.svdvals(X)[-1] - torch.linalg.matrix_norm(A, 2)))
    ]
    assert found["least"][0] == pytest.approx(1 / float(torch.linalg.cond(A)))


def test_descent_on_the_head_is_that_of_torch_and_never_rises():
    generator = torch.Generator().manual_seed(0)
    F = torch.randn(30, 5, generator=generator, dtype=torch.float64)
    labels = torch.randint(3, (30,), generator=generator)
    losses, wrong, end = pretrained.train_head(F, labels, 3, 40)
    assert len(losses) == len(wrong) == 41
    assert float(losses[0]) == pytest.approx(math.log(3))
    assert bool((losses[1:] <= losses[:-1]).all())
    tilde = torch.cat([F, torch.ones(30, 1, dtype=torch.float64)], 1)
    assert torch.equal(pretrained.with_ones(F), tilde)
    eta = 2 / float(torch.linalg.eigvalsh(tilde.T @ tilde / 30)[-1])
    W = torch.zeros(6, 3, dtype=torch.float64, requires_grad=True)
    for step in range(40):
        loss = torch.nn.functional.cross_entropy(tilde @ W, labels)
        assert float(losses[step]) == pytest.approx(float(loss.detach()), rel=1e-12)
        (slope,) = torch.autograd.grad(loss, W)
        W = (W - eta * slope).detach().requires_grad_()
    assert torch.allclose(end, W.detach(), atol=1e-12)
    assert float(wrong[-1]) == pytest.approx(float(((tilde @ W).argmax(1) != labels).double().mean()))


def test_labels_and_masks_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="labels must be"), unchecked():
        pretrained.train_head(torch.ones(2, 3), torch.tensor([0, 2]), 2, 1)
    ids, mask = sentences()
    refused("mask", "(4, 5)", "(4, 6)", pretrained.features, tiny(), ids, mask[:, :5])
