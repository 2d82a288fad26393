"""The architectures against plain loops, the book's own model, and each other."""

import math

import pytest
import torch

from checks import source
from companion.theory.beyond import attention, deep, dense, directions, single_layer
from shallowformer import data
from shallowformer.kernel_regime.model import transformer
from shallowformer.kernel_regime.model.parameters import Parameters
from shallowformer.kernel_regime.neighbourhood import perturbations

F64 = torch.float64
MODELS = (single_layer.HEADS, single_layer.SEQUENCE, dense.DENSE, deep.DEEP)


def drawn(architecture, m=6, d=3, seed=0):
    """Parameters in general position, with the shapes of a start."""
    start = architecture.start(m, d, source(seed), F64)
    return {
        name: torch.randn(block.shape, generator=source(seed + k), dtype=F64)
        for k, (name, block) in enumerate(start.items())
    }


def attended(X, W, q):
    logits = [sum(x[i] * W[i][j] * q[j] for i in range(len(q)) for j in range(len(q))) for x in X]
    total = sum(math.exp(z) for z in logits)
    return [sum(math.exp(z) / total * x[i] for z, x in zip(logits, X, strict=True)) for i in range(len(q))]


def dot(a, b):
    return sum(x * y for x, y in zip(a, b, strict=True))


def test_attention_is_that_of_a_loop():
    X, q = data.clipped_gaussian(2, 4, 3, source()), data.clipped_gaussian(2, 5, 3, source(1))
    W = torch.randn(6, 3, 3, generator=source(2), dtype=F64)
    a = attention.pooled(X, W, q)
    assert a.shape == (2, 5, 6, 3)
    assert a[1, 4, 5].tolist() == pytest.approx(attended(X[1].tolist(), W[5].tolist(), q[1, 4].tolist()))
    assert torch.allclose(attention.one_query(X, W[:2], q[:, 0])[0], a[0, 0, 0])


def test_heads_are_the_paper_s_model():
    X, phi = data.clipped_gaussian(5, 4, 3, source()), drawn(single_layer.HEADS)
    assert torch.allclose(single_layer.f(X, phi), transformer.f(X, Parameters(**phi)))
    assert torch.allclose(single_layer.every_position(X, phi)[:, -1], single_layer.f(X, phi))


def test_a_turned_sequence_ends_with_each_token_once():
    X = data.clipped_gaussian(2, 3, 2, source())
    assert torch.equal(single_layer.turned(X)[:, -1], X.flatten(0, 1))


def test_a_shared_layer_is_that_of_a_loop():
    X, phi = data.clipped_gaussian(2, 4, 3, source()), drawn(dense.DENSE)
    a = [attended(X[1].tolist(), W.tolist(), X[1, -1].tolist()) for W in phi["W"]]
    z = [sum(dot(v.tolist(), x) for v, x in zip(row, a, strict=True)) / 6**0.5 for row in phi["V"]]
    expected = sum(float(c) * math.tanh(x) for c, x in zip(phi["c"], z, strict=True)) / 6**0.5
    assert float(dense.f(X, phi)[1]) == pytest.approx(expected)


def test_a_block_diagonal_shared_layer_is_independent_heads():
    X, phi = data.clipped_gaussian(3, 4, 3, source()), drawn(single_layer.HEADS)
    V = torch.diag_embed(phi["U"].T).permute(1, 2, 0) * 6**0.5
    assert torch.allclose(dense.f(X, {"c": phi["c"], "V": V, "W": phi["W"]}), single_layer.f(X, phi))


def test_two_layers_are_those_of_a_loop():
    X, phi = data.clipped_gaussian(1, 3, 2, source()), drawn(deep.DEEP, m=4, d=2)
    tokens, f = X[0].tolist(), 0.0
    for half in ((0, 1), (2, 3)):
        stream = []
        for x in tokens:
            outs = [
                math.tanh(dot(phi["U1"][i].tolist(), attended(tokens, phi["W1"][i].tolist(), x)))
                for i in half
            ]
            pushed = [
                sum(h * float(phi["B1"][i, k]) for h, i in zip(outs, half, strict=True)) / 2**0.5
                for k in range(2)
            ]
            stream.append([a + b for a, b in zip(x, pushed, strict=True)])
        for i in half:
            a = attended(stream, phi["W2"][i].tolist(), stream[-1])
            f += float(phi["c"][i]) * math.tanh(dot(phi["U2"][i].tolist(), a)) / 2
    assert float(deep.f(X, phi)) == pytest.approx(f)


@pytest.mark.parametrize("architecture", MODELS, ids=lambda a: a.name)
def test_a_start_is_the_zero_function_and_all_its_gradients_are_alive(architecture):
    X, phi = data.clipped_gaussian(4, 3, 3, source()), architecture.start(4, 3, source(1), F64)
    assert architecture.outputs(X, phi).abs().max() < 1e-14
    slopes = torch.func.grad(lambda p: architecture.outputs(X, p)[0].sum())(phi)
    assert min(float(block.abs().max()) for block in slopes.values()) > 1e-3


@pytest.mark.parametrize("architecture", MODELS, ids=lambda a: a.name)
def test_an_odd_width_is_refused(architecture):
    with pytest.raises(ValueError, match="m must be"):
        architecture.start(3, 2, source(), F64)


def test_a_shared_layer_starts_full():
    V = dense.start(8, 3, source(), F64)["V"]
    assert V.abs().min() > 0
    assert not torch.equal(V[:4, :4], V[:4, 4:])


def test_the_coherent_push_stays_in_its_neighbourhood():
    phi, X = deep.start(8, 3, source(), F64), data.clipped_gaussian(1, 4, 3, source(1))
    delta = deep.coherent(X, phi, 2.0)
    assert torch.allclose(delta["B1"].norm(dim=1)[:4], torch.full((4,), 2 / 8**0.5, dtype=F64))
    assert sum(float(block.abs().sum()) for name, block in delta.items() if name != "B1") == 0
    assert float(delta["B1"][4:].abs().max()) == 0


def test_the_search_for_the_worst_point_finds_much_of_what_the_head_by_head_search_finds():
    X, phi = data.clipped_gaussian(1, 4, 3, source()), single_layer.start(8, 3, source(1), F64)
    _, value = directions.adversarial(single_layer.HEADS, X, phi, (3.0, 3.0, 3.0))
    _, best = perturbations.adversarial(X, Parameters(**phi), (3.0, 3.0, 3.0))
    assert 0.75 * best < value <= best * (1 + 1e-6)
