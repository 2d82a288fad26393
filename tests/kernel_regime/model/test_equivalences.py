import pytest
import torch

from checks import refused
from companion.theory.kernel_regime import equivalences


def draw(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape)), dtype=torch.float64)


def matrices(m=3, k=2, d=4):
    return {
        "W_Q": draw(m, k, d),
        "W_K": 2 * draw(m, k, d),
        "W_V": 3 * draw(m, k, d),
        "u": draw(m, k),
        "c": draw(m),
        "beta": 0.5,
    }


def test_merging_multiplies_head_by_head():
    arguments = matrices()
    merged = equivalences.merge(**arguments)
    for i in range(3):
        for row in range(4):
            for column in range(4):
                entry = sum(
                    0.5 * arguments["W_K"][i, s, row] * arguments["W_Q"][i, s, column] for s in range(2)
                )
                assert float(merged.W[i, row, column]) == pytest.approx(float(entry), rel=1e-12)
            assert float(merged.U[i, row]) == pytest.approx(
                float(sum(arguments["W_V"][i, s, row] * arguments["u"][i, s] for s in range(2))), rel=1e-12
            )
    assert torch.equal(merged.c, arguments["c"])


@pytest.mark.parametrize(
    ("name", "value", "given", "allowed"),
    [
        ("W_K", draw(3, 5, 4), "(3, 5, 4)", "(3, 2, 4)"),
        ("W_V", draw(2, 2, 4), "(2, 2, 4)", "(3, 2, 4)"),
        ("u", draw(3, 4), "(3, 4)", "(3, 2)"),
        ("u", draw(3, 2).float(), "float32", "float64"),
        ("W_Q", draw(2, 4), "(2, 4)", "[m k d]"),
    ],
)
def test_matrices_that_do_not_fit_are_refused(name, value, given, allowed):
    refused(name, given, allowed, equivalences.merge, **{**matrices(), name: value})


def test_block_diagonal_puts_each_vector_into_the_columns_of_its_head():
    U = draw(3, 2)
    V = equivalences.block_diagonal(U)
    expected = torch.zeros(3, 6, dtype=torch.float64)
    for i in range(3):
        expected[i, 2 * i : 2 * i + 2] = U[i]
    assert torch.equal(V, expected)


def test_block_diagonal_refuses_what_is_not_a_matrix():
    refused("U", "(4,)", "[m d]", equivalences.block_diagonal, draw(4))
