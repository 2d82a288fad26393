"""The softmax calculus against plain loops, its symmetries, and its refusals."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Generator, Tensor

import reference
from checks import assert_agrees, refused
from shallowformer import softmax

NAN, INF = math.nan, math.inf
EPS = torch.finfo(torch.float64).eps

LOGITS = {
    "one token": [0.7],
    "two tokens": [0.3, -0.4],
    "equal": [1.5, 1.5, 1.5, 1.5],
    "ordinary": [0.1, -1.2, 2.3, 0.8, -0.5],
    "saturated": [1e3, -1e3, 0.0],
    "two winners": [1e3, 1e3, -1e3],
    "nearly saturated": [30.0, 0.0, -5.0],
}
SHAPES = [(1, 1, 1, 1), (2, 1, 3, 2), (3, 4, 1, 2), (2, 5, 3, 4), (1, 2, 2, 1)]  # n, T, d, m

logit_lists = st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=6)
seeds = st.integers(0, 10**6)
sizes = st.tuples(st.integers(1, 6), st.integers(1, 4))  # T, d


def tensor(values: object) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


def gaussian(seed: int, *shape: int) -> Tensor:
    return torch.randn(*shape, generator=Generator().manual_seed(seed), dtype=torch.float64)


def law(seed: int, T: int, d: int) -> tuple[Tensor, Tensor]:
    """Tokens and weights in general position."""
    return gaussian(seed, T, d), torch.softmax(2 * gaussian(seed + 1, T), -1)


def largest(values: list) -> float:
    return max(abs(value) for value in values)


# Against plain loops --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("z", LOGITS.values(), ids=LOGITS)
def test_jacobian_agrees_with_loops(z):
    assert_agrees(softmax.jacobian(tensor(z)), reference.jacobian(z), largest(z))


@pytest.mark.parametrize("z", LOGITS.values(), ids=LOGITS)
def test_jacobian_product_agrees_with_loops(z):
    u = [(-1) ** t * (t + 1.0) for t in range(len(z))]
    expected = reference.times(reference.jacobian(z), u)
    assert_agrees(softmax.jacobian_product(tensor(z), tensor(u)), expected, largest(z))


@pytest.mark.parametrize("z", LOGITS.values(), ids=LOGITS)
def test_subset_masses_agree_with_loops(z):
    alpha = reference.softmax(z)
    assert_agrees(softmax.subset_masses(tensor(alpha)), reference.subset_masses(alpha))


@pytest.mark.parametrize("z", LOGITS.values(), ids=LOGITS)
def test_inf_to_one_norm_is_the_largest_over_all_sign_vectors(z):
    expected = reference.inf_to_one_norm(reference.jacobian(z))
    assert_agrees(softmax.inf_to_one_norm(tensor(z)), expected, largest(z))


def attention_case(n: int, T: int, d: int, m: int, scale: float = 1.0) -> tuple[Tensor, Tensor, Tensor]:
    return gaussian(1, n, T, d) / d**0.5, scale * gaussian(2, m, d, d), gaussian(3, n, d) / d**0.5


@pytest.mark.parametrize("scale", [1.0, 1e3])
@pytest.mark.parametrize("shape", SHAPES)
def test_attention_agrees_with_loops(shape, scale):
    X, W, q = attention_case(*shape, scale)
    z = [
        [reference.logits(Xj, Wi, qj) for Wi in W.tolist()]
        for Xj, qj in zip(X.tolist(), q.tolist(), strict=True)
    ]
    alpha = [[reference.softmax(row) for row in sample] for sample in z]
    a = [[reference.mean(Xj, row) for row in rows] for Xj, rows in zip(X.tolist(), alpha, strict=True)]
    logit = float(tensor(z).abs().max())
    assert_agrees(softmax.logits(X, W, q), z)
    assert_agrees(softmax.weights(X, W, q), alpha, logit)
    assert_agrees(softmax.pooled_attention(X, W, q), a, logit)


@pytest.mark.parametrize(("T", "d"), [(1, 1), (1, 3), (4, 1), (5, 3), (2, 2)])
def test_cumulants_agree_with_loops(T, d):
    X, alpha = law(T + d, T, d)
    u, v, w = gaussian(7, 3, d)
    x, p, U = X.tolist(), alpha.tolist(), u.tolist()
    assert_agrees(softmax.mean(X, alpha), reference.mean(x, p))
    assert_agrees(softmax.covariance(X, alpha), reference.covariance(x, p))
    assert_agrees(softmax.covariance_product(X, alpha, u), reference.times(reference.covariance(x, p), U))
    assert_agrees(softmax.third_cumulant(X, alpha, u), reference.third_cumulant(x, p, U))
    form = reference.third_cumulant_form(x, p, U, v.tolist(), w.tolist())
    assert_agrees(softmax.third_cumulant_form(X, alpha, u, v, w), form)


def test_leading_dimensions_broadcast():
    X, alpha = gaussian(1, 3, 1, 4, 2), torch.softmax(gaussian(2, 3, 5, 4), -1)  # 3 samples, 5 heads
    u, v, w = gaussian(3, 3, 5, 2)  # one direction a head
    for j in range(3):
        for i in range(5):
            x, p, U = X[j, 0].tolist(), alpha[j, i].tolist(), u[i].tolist()
            assert_agrees(softmax.mean(X, alpha)[j, i], reference.mean(x, p))
            assert_agrees(softmax.covariance(X, alpha)[j, i], reference.covariance(x, p))
            product = reference.times(reference.covariance(x, p), U)
            assert_agrees(softmax.covariance_product(X, alpha, u)[j, i], product)
            assert_agrees(softmax.third_cumulant(X, alpha, u)[j, i], reference.third_cumulant(x, p, U))
            form = reference.third_cumulant_form(x, p, U, v[i].tolist(), w[i].tolist())
            assert_agrees(softmax.third_cumulant_form(X, alpha, u, v, w)[j, i], form)


def test_functions_of_logits_are_batched():
    z, u = gaussian(1, 2, 1, 4), gaussian(2, 3, 4)
    for j in range(2):
        assert_agrees(softmax.jacobian(z)[j, 0], reference.jacobian(z[j, 0].tolist()))
        assert_agrees(
            softmax.inf_to_one_norm(z)[j, 0], reference.inf_to_one_norm(reference.jacobian(z[j, 0].tolist()))
        )
        assert_agrees(softmax.subset_masses(z)[j, 0], reference.subset_masses(z[j, 0].tolist()))
        for k in range(3):
            expected = reference.times(reference.jacobian(z[j, 0].tolist()), u[k].tolist())
            assert_agrees(softmax.jacobian_product(z, u)[j, k], expected)


# Symmetries and identities --------------------------------------------------------------------------------------------


@given(logit_lists, st.floats(-1e3, 1e3))
def test_a_shift_of_all_logits_changes_nothing(z, shift):
    z = tensor(z)
    rounding = float(z.abs().max()) + abs(shift)
    assert_agrees(softmax.jacobian(z + shift), softmax.jacobian(z), rounding)
    assert_agrees(softmax.inf_to_one_norm(z + shift), softmax.inf_to_one_norm(z), rounding)


@given(logit_lists, seeds)
def test_jacobian_product_is_the_jacobian_times_the_direction(z, seed):
    z, u = tensor(z), gaussian(seed, len(z))
    assert_agrees(softmax.jacobian_product(z, u), softmax.jacobian(z) @ u)


@given(logit_lists, seeds)
def test_weights_keep_their_sum(z, seed):
    moved = softmax.jacobian_product(tensor(z), gaussian(seed, len(z)))
    assert abs(float(moved.sum())) <= 64 * EPS


@given(seeds, st.integers(1, 6))
def test_jacobian_is_the_derivative_of_softmax(seed, T):
    z = gaussian(seed, T)
    assert_agrees(softmax.jacobian(z), torch.autograd.functional.jacobian(lambda z: torch.softmax(z, -1), z))


@given(logit_lists)
def test_inf_to_one_norm_lies_between_0_and_1(z):
    assert 0 <= float(softmax.inf_to_one_norm(tensor(z))) <= 1


def test_inf_to_one_norm_of_two_equal_halves_is_1():
    assert float(softmax.inf_to_one_norm(tensor([0.3, 0.3]))) == 1
    assert float(softmax.inf_to_one_norm(tensor([2.0]))) == 0


@given(seeds, sizes)
def test_the_order_of_tokens_does_not_matter(seed, size):
    X, alpha = law(seed, *size)
    U = gaussian(seed + 2, size[1])
    shuffled = torch.randperm(size[0], generator=Generator().manual_seed(seed))
    Xs, alphas = X[shuffled], alpha[shuffled]
    assert_agrees(softmax.mean(Xs, alphas), softmax.mean(X, alpha))
    assert_agrees(softmax.covariance(Xs, alphas), softmax.covariance(X, alpha))
    assert_agrees(softmax.covariance_product(Xs, alphas, U), softmax.covariance_product(X, alpha, U))
    assert_agrees(softmax.third_cumulant(Xs, alphas, U), softmax.third_cumulant(X, alpha, U))


@given(seeds, sizes, st.integers(2, 3))
def test_repeated_tokens_pool_to_the_same_vector(seed, size, times):
    X, W, q = (
        gaussian(seed, 2, *size),
        gaussian(seed + 1, 3, size[1], size[1]),
        gaussian(seed + 2, 2, size[1]),
    )
    logit = float(softmax.logits(X, W, q).abs().max())
    repeated = X.repeat_interleave(times, dim=1)
    assert_agrees(softmax.pooled_attention(repeated, W, q), softmax.pooled_attention(X, W, q), logit)


@given(seeds, sizes)
def test_covariance_is_symmetric_and_positive_semidefinite(seed, size):
    M = softmax.covariance(*law(seed, *size))
    assert_agrees(M.mT, M)
    assert float(torch.linalg.eigvalsh(M).min()) >= -64 * EPS * max(1.0, float(M.abs().max()))


@given(seeds, sizes)
def test_covariance_is_tokens_times_jacobian_times_tokens(seed, size):
    X, z = gaussian(seed, *size), gaussian(seed + 1, size[0])
    assert_agrees(softmax.covariance(X, torch.softmax(z, -1)), X.mT @ softmax.jacobian(z) @ X)


@given(seeds, sizes)
def test_covariance_does_not_see_a_shift_of_all_tokens(seed, size):
    X, alpha = law(seed, *size)
    shift = gaussian(seed + 2, size[1])
    assert_agrees(softmax.covariance(X + shift, alpha), softmax.covariance(X, alpha), 10.0)


@given(seeds, sizes)
def test_third_cumulant_form_is_symmetric_and_is_the_matrix_between_two_directions(seed, size):
    X, alpha = law(seed, *size)
    u, v, w = gaussian(seed + 2, 3, size[1])
    form = softmax.third_cumulant_form(X, alpha, u, v, w)
    scale = float(u.norm() * v.norm() * w.norm() * X.norm(dim=-1).max() ** 3)
    for other in ((v, u, w), (w, v, u), (u, w, v)):
        assert_agrees(softmax.third_cumulant_form(X, alpha, *other), form, scale)
    assert_agrees(v @ softmax.third_cumulant(X, alpha, u) @ w, form, scale)


@given(seeds, sizes)
def test_third_cumulant_is_the_derivative_of_the_covariance(seed, size):
    X, z, U = gaussian(seed, *size), gaussian(seed + 1, size[0]), gaussian(seed + 2, size[1])
    _, slope = torch.autograd.functional.jvp(lambda z: softmax.covariance(X, torch.softmax(z, -1)), z, X @ U)
    scale = float(U.norm() * X.norm(dim=-1).max() ** 3)
    assert_agrees(slope, softmax.third_cumulant(X, torch.softmax(z, -1), U), scale)


@pytest.mark.parametrize("T", [1, 4])
def test_equal_tokens_have_no_spread(T):
    X, alpha, U = gaussian(1, 1, 3).expand(T, 3), torch.softmax(gaussian(2, T), -1), gaussian(3, 3)
    nothing = torch.zeros(3, 3)
    assert_agrees(softmax.mean(X, alpha), X[0])
    assert_agrees(softmax.covariance(X, alpha), nothing)
    assert_agrees(softmax.covariance_product(X, alpha, U), nothing[0])
    assert_agrees(softmax.third_cumulant(X, alpha, U), nothing)


def test_a_zero_query_weighs_all_tokens_alike():
    X, W, q = attention_case(2, 5, 3, 4)
    assert_agrees(softmax.pooled_attention(X, W, 0 * q), X.mean(1)[:, None].expand(2, 4, 3))


def test_a_saturated_head_picks_one_token():
    X = torch.eye(3, dtype=torch.float64)[None]
    q = tensor([[1.0, 0.0, 0.0]])
    W = torch.zeros(1, 3, 3, dtype=torch.float64)
    W[0, 1, 0] = 1e3
    assert softmax.pooled_attention(X, W, q).equal(X[:, 1:2])


# Dtype ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_dtype_is_kept(dtype):
    X, W, q = (block.to(dtype) for block in attention_case(2, 4, 3, 5))
    z, u = gaussian(1, 4).to(dtype), gaussian(2, 3).to(dtype)
    alpha = torch.softmax(z, -1)
    results = [
        softmax.jacobian(z),
        softmax.jacobian_product(z, z),
        softmax.subset_masses(alpha),
        softmax.inf_to_one_norm(z),
        softmax.logits(X, W, q),
        softmax.weights(X, W, q),
        softmax.pooled_attention(X, W, q),
        softmax.mean(X, alpha),
        softmax.covariance(X, alpha),
        softmax.covariance_product(X, alpha, u),
        softmax.third_cumulant(X, alpha, u),
        softmax.third_cumulant_form(X, alpha, u, u, u),
    ]
    assert {result.dtype for result in results} == {dtype}


def test_float32_agrees_with_float64():
    X, W, q = attention_case(2, 5, 3, 4)
    single = softmax.pooled_attention(X.float(), W.float(), q.float())
    logit = float(softmax.logits(X, W, q).abs().max())
    assert_agrees(single, softmax.pooled_attention(X, W, q), logit)


OF_LOGITS = {
    "jacobian": (softmax.jacobian, "z"),
    "jacobian_product": (lambda z: softmax.jacobian_product(z, torch.ones(2)), "z"),
    "jacobian_product, direction": (lambda u: softmax.jacobian_product(torch.ones(2), u), "u"),
    "subset_masses": (softmax.subset_masses, "alpha"),
    "inf_to_one_norm": (softmax.inf_to_one_norm, "z"),
}
BAD_VECTORS = {
    "list": ([1.0, 2.0], "list", "torch tensor of shape [... T]"),
    "integers": (torch.ones(2, dtype=torch.int32), "torch.int32", "floating-point"),
    "number": (torch.tensor(1.0), "()", "[... T]"),
    "empty": (torch.ones(0), "(0,)", "at least 1"),
    "NaN": (torch.tensor([1.0, NAN]), "1 entries that are NaN", "finite"),
    "infinite": (torch.tensor([-INF, INF]), "2 entries that are NaN", "finite"),
}


@pytest.mark.parametrize("bad", BAD_VECTORS.values(), ids=BAD_VECTORS)
@pytest.mark.parametrize("case", OF_LOGITS.values(), ids=OF_LOGITS)
def test_functions_of_logits_refuse(case, bad):
    function, name = case
    value, given_, allowed = bad
    refused(name, given_, allowed, function, value)


def test_jacobian_product_refuses_another_number_of_tokens():
    refused("u", "3", "as many entries as z (2)", softmax.jacobian_product, torch.ones(2), torch.ones(3))


@pytest.mark.parametrize("function", [softmax.subset_masses, softmax.inf_to_one_norm])
def test_at_most_16_tokens_are_enumerated(function):
    assert function(torch.zeros(16)).isfinite().all()
    refused("alpha", "T = 17", "T ≤ 16", function, torch.zeros(17))


GOOD = {"X": torch.full((2, 3, 4), 0.5), "W": torch.ones(5, 4, 4), "q": torch.ones(2, 4)}
BAD_ATTENTION = [
    ("X", [1.0], "list", "[n T d]"),
    ("X", torch.ones(3, 4), "(3, 4)", "[n T d]"),
    ("X", torch.ones(0, 3, 4), "(0, 3, 4)", "at least 1"),
    ("X", torch.full((2, 3, 4), NAN), "24 entries", "finite"),
    ("X", torch.ones(2, 3, 4, dtype=torch.int64), "torch.int64", "floating-point"),
    ("W", torch.ones(4, 4), "(4, 4)", "[m d d]"),
    ("W", torch.ones(5, 4, 3), "(5, 4, 3)", "(5, 4, 4) ([m, d, d], d as in X)"),
    ("W", torch.ones(5, 3, 3), "(5, 3, 3)", "(5, 4, 4) ([m, d, d], d as in X)"),
    ("W", torch.ones(5, 4, 4).double(), "torch.float64", "dtype and device of X (torch.float32"),
    ("W", torch.full((5, 4, 4), INF), "80 entries", "finite"),
    ("q", torch.ones(4), "(4,)", "[n d]"),
    ("q", torch.ones(1, 4), "(1, 4)", "(2, 4) ([n, d] as in X)"),
    ("q", torch.ones(2, 3), "(2, 3)", "(2, 4) ([n, d] as in X)"),
    ("q", torch.ones(2, 4).half(), "torch.float16", "dtype and device of X (torch.float32"),
    ("q", torch.full((2, 4), NAN), "8 entries", "finite"),
]


@pytest.mark.parametrize("function", [softmax.logits, softmax.weights, softmax.pooled_attention])
@pytest.mark.parametrize(("name", "value", "given_", "allowed"), BAD_ATTENTION)
def test_attention_refuses(function, name, value, given_, allowed):
    refused(name, given_, allowed, function, **GOOD | {name: value})


CUMULANTS = {
    "mean": (softmax.mean, ()),
    "covariance": (softmax.covariance, ()),
    "covariance_product": (softmax.covariance_product, ("U",)),
    "third_cumulant": (softmax.third_cumulant, ("U",)),
    "third_cumulant_form": (softmax.third_cumulant_form, ("u", "v", "w")),
}


def call(function, names, X=None, alpha=None, **directions):
    """A law of 3 tokens in dimension 2, with what is given in place of the good arguments."""
    X = torch.ones(3, 2) if X is None else X
    alpha = torch.full((3,), 1 / 3) if alpha is None else alpha
    return function(X, alpha, **({name: torch.ones(2) for name in names} | directions))


BAD_LAWS = [
    ("X", [1.0], "list", "[... T d]"),
    ("X", torch.ones(3), "(3,)", "[... T d]"),
    ("X", torch.ones(3, 0), "(3, 0)", "at least 1"),
    ("X", torch.full((3, 2), NAN), "6 entries", "finite"),
    ("X", torch.ones(3, 2, dtype=torch.int64), "torch.int64", "floating-point"),
    ("alpha", 0.5, "float", "[... T]"),
    ("alpha", torch.ones(2), "2 weights", "T = 3 tokens of X"),
    ("alpha", torch.full((3,), INF), "3 entries", "finite"),
    ("alpha", torch.ones(3, dtype=torch.bool), "torch.bool", "floating-point"),
]


@pytest.mark.parametrize(("function", "names"), CUMULANTS.values(), ids=CUMULANTS)
@pytest.mark.parametrize(("name", "value", "given_", "allowed"), BAD_LAWS)
def test_cumulants_refuse_tokens_and_weights(function, names, name, value, given_, allowed):
    refused(name, given_, allowed, call, function, names, **{name: value})


DIRECTIONS = [(function, names, name) for function, names in CUMULANTS.values() for name in names]


@pytest.mark.parametrize(("function", "names", "name"), DIRECTIONS)
def test_cumulants_refuse_directions(function, names, name):
    refused(name, "got 3", "d = 2 entries as the tokens of X", call, function, names, **{name: torch.ones(3)})
    refused(name, "2 entries that are NaN", "finite", call, function, names, **{name: torch.full((2,), NAN)})
    with refused(name, "torch.int64", "floating-point"):
        call(function, names, **{name: torch.ones(2, dtype=torch.int64)})


@pytest.mark.parametrize(("function", "names"), CUMULANTS.values(), ids=CUMULANTS)
def test_cumulants_refuse_mixed_dtypes(function, names):
    with refused("alpha", "torch.float64", "torch.float32"):
        call(function, names, alpha=torch.full((3,), 1 / 3, dtype=torch.float64))


@pytest.mark.parametrize(("function", "names"), CUMULANTS.values(), ids=CUMULANTS)
def test_cumulants_refuse_leading_dimensions_that_do_not_broadcast(function, names):
    with refused("alpha", "(4, 3)", "broadcast"):
        call(function, names, X=torch.ones(2, 3, 2), alpha=torch.full((4, 3), 1 / 3))


def test_jacobian_product_refuses_mixed_dtypes():
    with refused("u", "torch.float64", "torch.float32"):
        softmax.jacobian_product(torch.ones(3), torch.ones(3, dtype=torch.float64))


def test_jacobian_product_refuses_leading_dimensions_that_do_not_broadcast():
    refused("u", "(4, 3)", "broadcast", softmax.jacobian_product, torch.ones(2, 3), torch.ones(4, 3))
