"""What is timed answers as the models do."""

import torch

from companion.experiments.kernel_regime import price_of_memory
from companion.theory.kernel_regime import streaming
from shallowformer import data
from shallowformer.kernel_regime.model import parameters, transformer
from shallowformer.kernel_regime.recurrent import network

SOURCE = torch.Generator().manual_seed(0)
X = data.clipped_gaussian(4, 7, 3, SOURCE)
HEADS, UNITS = parameters.random(6, 3, SOURCE), network.symmetric(6, 3, 0.9, SOURCE)


def test_an_answer_from_the_tokens():
    torch.testing.assert_close(price_of_memory.from_the_tokens(X, HEADS), transformer.f(X, HEADS))


def test_an_answer_from_the_stream():
    q = X[0, 0]
    lam = HEADS.W @ q
    stream = streaming.begin(len(X), lam, 1)
    for token in X.unbind(1):
        stream, found = price_of_memory.from_the_stream(stream, token, lam, HEADS)
    torch.testing.assert_close(found, transformer.f(X, HEADS, lambda X: q.expand(len(X), -1)))


def test_an_answer_from_the_state():
    h = X.new_zeros(len(X), UNITS.m)
    for token in X.unbind(1):
        h, found = price_of_memory.from_the_state(h, token, UNITS)
    torch.testing.assert_close(found, network.f(X, UNITS))


def test_bytes_grow_as_counted():
    kept = [
        price_of_memory.compute(price_of_memory.Config(T, n=10, m=8, d=5, repeats=1), torch.device("cpu"))
        for T in (4, 8)
    ]
    for name in ("attention_bytes", "recurrence_bytes"):
        assert (kept[1][name] - kept[0][name]) / 4 == 4 * 10 * (5 + 8)
