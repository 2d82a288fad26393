"""For every claim, mistakes that its check must notice: a dropped term, a lost factor, a flipped sign, a wrong constant."""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from unittest.mock import patch

import torch

from shallowformer import softmax, verify
from shallowformer.kernel_regime import equivalences, gradients, tangent_kernel
from shallowformer.kernel_regime.parameters import Parameters


@dataclass(frozen=True)
class Mutant:
    """A mistake: in the check itself (``change``), or in a package function that the check uses (``where``, ``wrong``)."""

    what: str
    change: Callable = lambda check: check
    where: object = None
    name: str = ""
    wrong: Callable | None = None

    @contextlib.contextmanager
    def planted(self) -> Iterator[None]:
        if self.wrong is None:
            yield
        else:
            with patch.object(self.where, self.name, self.wrong):
                yield


def tighter(factor: float) -> Mutant:
    return Mutant(f"the constant times {factor}", lambda check: check.scaled(factor))


def exponent(value: float) -> Mutant:
    return Mutant(f"the exponent {value}", lambda check: replace(check, exponent=value))


def formula(what: str, wrong: Callable) -> Mutant:
    """The chapter's formula replaced by a function of the right values and the case."""
    return Mutant(
        what, lambda check: replace(check, formula=lambda **case: wrong(check.formula(**case), case))
    )


def package(what: str, where: object, name: str, wrong: Callable) -> Mutant:
    return Mutant(what, where=where, name=name, wrong=wrong)


def _second_moment(X, alpha):
    return torch.einsum("...t,...ti,...tj->...ij", alpha, X, X)


def _uncentred_product(X, alpha, U):
    return torch.einsum("...t,...td->...d", alpha * torch.einsum("...td,...d->...t", X, U), X)


def _head_mean_of_keys(X, W, q):
    """Attention that also attends to a zero token."""
    X = torch.cat([X, torch.zeros_like(X[:, :1])], 1)
    return softmax.weights(X, W, q) @ X


_right_jacobian, _right_cumulant, _right_merge = softmax.jacobian, softmax.third_cumulant, equivalences.merge
_right_blocks, _right_loss = equivalences.block_diagonal, gradients.loss_and_gradient
_right_finite, _right_diagonal = tangent_kernel.finite, tangent_kernel.diagonal
_right_head = gradients._head_quantities


def _merge_transposed(W_Q, W_K, W_V, u, c, beta):
    right = _right_merge(W_Q, W_K, W_V, u, c, beta)
    return Parameters(right.c, right.U, right.W.mT)


def _merge_without_beta(W_Q, W_K, W_V, u, c, beta):
    return _right_merge(W_Q, W_K, W_V, u, c, 2 * beta)


def _loss_without_two(*args, **options):
    loss, gradient = _right_loss(*args, **options)
    return loss, gradient.map(lambda block: block / 2)


def _uncentred_lemma(value, case):
    """Lemma 1 with the second moment for M."""
    X, q, c, U, W = (case[name] for name in ("X", "q", "c", "U", "W"))
    alpha = softmax.weights(X, W, q)
    z = ((alpha @ X) * U).sum(-1)
    product = _uncentred_product(X[:, None], alpha, U)
    slope = (len(c) ** -0.5 * c * (1 - torch.tanh(z) ** 2))[..., None, None]
    return value[0], value[1], slope * product[..., None] * q[:, None, None, :]


def _finite_without_c(X, phi, *args, **options):
    """The tangent kernel with c_i² = 1, which holds at initialisation only."""
    return _right_finite(X, Parameters(torch.ones_like(phi.c), phi.U, phi.W), *args, **options)


def _finite_without_sign(*args, **options):
    """The attention block with |⟨q, q′⟩|, in one dimension."""
    right = _right_finite(*args, **options)
    return tangent_kernel.Blocks(right.c, right.u, right.w.abs())


def _finite_without_attention(*args, **options):
    right = _right_finite(*args, **options)
    return tangent_kernel.Blocks(right.c, right.u, 0 * right.w)


def _diagonal_without_attention(*args, **options):
    right = _right_diagonal(*args, **options)
    return tangent_kernel.Blocks(right.c, right.u, 0 * right.w)


def _head_with_positions(X, U, W, q):
    """A model that knows where in the sequence a token stands."""
    T = X.shape[1]
    return _right_head(X * torch.linspace(1, 0.5, T, dtype=X.dtype)[:, None], U, W, q)


#: Claim → mistakes. Every claim of the ledger has at least one; further checks of a claim may have their own.
MUTANTS: dict[str, list[Mutant]] = {
    "kr-proposition-a": [
        package("M without its mean", softmax, "covariance", _second_moment),
        package("K_U with the wrong sign", softmax, "third_cumulant", lambda X, alpha, U: -_right_cumulant(X, alpha, U)),
        package("K_U of uncentred tokens", softmax, "third_cumulant",
                lambda X, alpha, U: torch.einsum("...t,...ti,...tj->...ij", alpha * torch.einsum("...td,...d->...t", X, U), X, X)),
    ],
    "kr-fact-1": [tighter(0.495), Mutant("another supremum", lambda check: replace(check, attains=0.51))],
    "kr-fact-1/jacobian": [package("J_s without ααᵀ", softmax, "jacobian", lambda z: torch.diag_embed(torch.softmax(z, -1)))],
    "kr-fact-1-sharp": [tighter(0.99)],
    "kr-fact-1-sharp/formula": [formula("2p(1 − p)", lambda value, case: value / 2)],
    "kr-fact-2": [tighter(0.99)],
    "kr-fact-3": [tighter(0.99)],
    "kr-fact-3/forms": [
        package("M without its mean", softmax, "covariance", _second_moment),
        package("MU without its mean", softmax, "covariance_product", _uncentred_product),
    ],
    "kr-fact-3-sharp": [
        tighter(0.99),
        Mutant("‖a‖ for ‖a‖²", lambda check: replace(check, lhs=lambda X, z: check.lhs(X, z)
               - softmax.mean(X, torch.softmax(z, -1)).pow(2).sum(-1) + softmax.mean(X, torch.softmax(z, -1)).norm(dim=-1))),
    ],
    "kr-remark-1": [
        package("W transposed", equivalences, "merge", _merge_transposed),
        package("a wrong β", equivalences, "merge", _merge_without_beta),
    ],
    "kr-remark-1/converse": [package("W transposed", equivalences, "merge", _merge_transposed)],
    "kr-remark-1-scaling": [exponent(-0.45), exponent(-1.0)],
    "kr-remark-1-scaling/alive": [exponent(-0.05), exponent(-0.5)],
    "kr-remark-2": [package("heads in the wrong order", equivalences, "block_diagonal", lambda U: _right_blocks(U).flip(0))],
    "kr-proposition-b": [package("a zero token joins", softmax, "pooled_attention", _head_mean_of_keys)],
    "kr-proposition-b/saturation": [tighter(0.99)],
    "kr-lemma-1": [
        formula("M without its mean", _uncentred_lemma),
        formula("m^{−1/2} lost in one block", lambda value, case: (value[0], value[1] * len(case["c"]) ** 0.5, value[2])),
        formula("q and MU exchanged", lambda value, case: (value[0], value[1], value[2].mT)),
    ],
    "kr-lemma-1/loss": [package("the 2 of the square lost", gradients, "loss_and_gradient", _loss_without_two)],
    "kr-remark-4": [tighter(0.99)],
    "kr-remark-4/covariance": [package("M without its mean", softmax, "covariance", _second_moment)],
    "kr-remark-4-sharp": [tighter(0.99)],
    "kr-remark-5": [tighter(0.99)],
    "kr-remark-4-sharp/forward": [tighter(0.99)],
    "kr-fact-3/norms": [tighter(0.99)],
    "kr-fact-3/positive": [tighter(0.99)],
    "kr-fact-3-sharp/camps": [package("M without its mean", softmax, "covariance", _second_moment)],
    "kr-remark-4-sharp/attained": [formula("σ₁ lost", lambda value, case: (value[0] / case["sigma"].bounds[1] * 1.001, value[1]))],
    "kr-proposition-c": [tighter(0.99)],
    "kr-proposition-c/recursion": [formula("h_{t−1} lost", lambda value, case: value - case["states"][-2] * (1 - case["states"][-1] ** 2))],
    "kr-proposition-c/half": [tighter(0.99)],
    "kr-proposition-c/negative": [tighter(0.99)],
    "kr-proposition-c/one": [tighter(0.99)],
    "kr-proposition-c/above": [tighter(0.99)],
    "kr-proposition-c/limit": [formula("1/(1 − w)", lambda value, case: torch.tensor(1 / (1 - case["w"]), dtype=torch.float64))],
    "kr-proposition-c/growth": [exponent(0.45), exponent(0.55)],
    "kr-proposition-c/explosion": [exponent(0.4)],
    "kr-corollary-a": [
        tighter(0.99),
        Mutant("2p(1 − p) for 4p(1 − p)", lambda check: check.scaled(0.5)),
    ],
    "kr-corollary-a/gap": [tighter(0.99)],
    # The tangent kernel
    "kr-lemma-4": [
        formula("⟨q, q′⟩ on the wrong block", lambda value, case: (value[0], value[1] * (case["q"] @ case["q"].T), value[2])),
        formula("1/m lost", lambda value, case: tuple(block * len(case["c"]) for block in value)),
        package("c_i² taken for 1", tangent_kernel, "finite", _finite_without_c),
    ],
    "kr-lemma-4/printed": [formula("as printed, without the m", lambda value, case: tuple(block / len(case["c"]) for block in value))],
    "kr-lemma-4/limit": [
        exponent(-0.45),
        package("the sign of ⟨q, q′⟩ lost", tangent_kernel, "finite", _finite_without_sign),
    ],
    "kr-lemma-4-rate": [
        exponent(-0.45),
        exponent(-1.0),
        package("no attention block", tangent_kernel, "finite", _finite_without_attention),
    ],
    "kr-lemma-4-rate/moment": [tighter(0.99)],
    "kr-remark-8": [package("no attention block", tangent_kernel, "diagonal", _diagonal_without_attention)],
    "kr-remark-8-scaling": [exponent(-0.9), exponent(-0.5)],
    "kr-remark-8-scaling/features": [formula("one of the two matrices", lambda value, case: value / 2)],
    "kr-remark-8-scaling/uniform": [
        exponent(0.0),
        Mutant("another limit", lambda check: replace(check, measure=lambda k, seed: check.measure(k, seed) + 0.01)),
    ],
    "kr-remark-8-scaling/canonical": [
        exponent(0.0),
        Mutant("another limit", lambda check: replace(check, measure=lambda k, seed: check.measure(k, seed) + 0.01)),
    ],
    "kr-lemma-4-sharp": [tighter(0.99)],
    "kr-lemma-4-sharp/integral": [formula("σ² + σ′² for the kernel", lambda value, case: value + 1e-3)],
    "kr-lemma-4-sharp/erf": [tighter(0.99)],
    "kr-lemma-4-sharp/inputs": [tighter(0.99), Mutant("another supremum", lambda check: replace(check, attains=0.85))],
    "kr-lemma-4-long": [formula("d for d − 1", lambda value, case: (value[0], value[1] - value[2], value[2]))],
    "kr-lemma-4-long/diagonal": [formula("d for d − 1", lambda value, case: value + 1e-3)],
    "kr-lemma-4-long/rate": [exponent(-0.9), exponent(-0.5)],
    "kr-lemma-4-singular": [package("a position in the sequence", gradients, "_head_quantities", _head_with_positions)],
    "kr-lemma-4-singular/descent": [
        Mutant("η for 2η", lambda check: replace(check, formula=lambda eta, **case: check.formula(eta=eta / 2, **case))),
    ],
}  # fmt: skip


def of_kind(check: verify.Check) -> list[Mutant]:
    """Mistakes that any check of its kind must notice, whatever it is about."""
    if isinstance(check, verify.Identity):
        return [formula("every part off by 1e-4", lambda value, case: _off(value, 1e-4))]
    if isinstance(check, verify.Inequality):
        return [
            Mutant(
                "a constant just below what is attained",
                lambda check: check.scaled(0.99 * check.run().measured["ratio"]),
            )
        ]
    if isinstance(check, verify.Rate):
        return [Mutant("the exponent off by 0.05 on the wrong side", lambda check: replace(
            check, exponent=check.exponent + (0.05 if check.relation == "at least" else -0.05)))]  # fmt: skip
    return [
        Mutant(
            "a third of the observed frequency",
            lambda check: replace(check, at_most=max(1e-9, check.run().measured["frequency"] / 3)),
        )
    ]


def _off(value, by):
    return tuple(v * (1 + by) for v in value) if isinstance(value, tuple) else value * (1 + by)
