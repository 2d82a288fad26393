"""Mistakes planted in the chapter *How smooth is a head?*: what its checks must notice."""

from dataclasses import replace

import torch

from shallowformer import softmax
from shallowformer.kernel_regime.bounds import blocks, smoothness
from shallowformer.kernel_regime.model import hessian
from shallowformer.verify.mistakes import Mistake, formula, package

_right_mean = softmax.mean
_right_cumulant = softmax.third_cumulant
_right_preactivation = hessian.preactivation
_right_product = softmax.covariance_product


def _cross_block_lost(X, alpha, U, q_norm=1.0):
    """∇²z with the mixed block only once."""
    H = _right_preactivation(X, alpha, U, q_norm).clone()
    H[..., : U.shape[-1], :] = 0
    return (H + H.mT) / 2


def _hidden_without_bend(X, alpha, U, q_norm=1.0, sigma=None):
    z = (softmax.mean(X, alpha) * U).sum(-1)[..., None, None]
    return (1 - torch.tanh(z) ** 2) * _right_preactivation(X, alpha, U, q_norm)


def _fourth_moment(X, alpha, u, w):
    """κ₄ without the part that makes it a cumulant."""
    Y = X - softmax.mean(X, alpha)[..., None, :]
    along_u, along_w = (torch.einsum("...td,...d->...t", Y, direction) for direction in (u, w))
    return (alpha * along_u * along_w**3).sum(-1)


#: Check → mistakes that must turn it red.
MISTAKES: dict[str, list[Mistake]] = {
    "kr-lemma-2-norms": [package("tokens not centred", softmax, "mean", lambda X, alpha: 0 * _right_mean(X, alpha))],
    "kr-lemma-2": [
        package("z-Hessian left out", hessian, "hidden", _hidden_without_bend),
    ],
    "kr-lemma-2/lipschitz": [
        package("MU for MU/2", softmax, "covariance_product", lambda X, alpha, U: _right_product(X, alpha, U) / 2),
    ],
    "kr-remark-3": [
        package("a mean ten per cent too short", softmax, "mean", lambda X, alpha: 0.9 * torch.einsum("...t,...td->...d", alpha, X)),
    ],
    "kr-remark-3/remainder": [
        package("a gradient without MU", softmax, "covariance_product", lambda X, alpha, U: 0 * U),
    ],
    "kr-remark-3/gradient": [
        package("MU for MU/2", softmax, "covariance_product", lambda X, alpha, U: _right_product(X, alpha, U) / 2),
    ],
    "kr-lemma-2-derivatives": [
        package("K_U with the wrong sign", softmax, "third_cumulant", lambda X, alpha, U: -_right_cumulant(X, alpha, U)),
        package("σ″ left out of the package's Hessian", hessian, "hidden", _hidden_without_bend),
        formula("the W-block transposed", lambda value, case: (
            torch.cat([value[0][: len(case["q"])], value[0][len(case["q"]):].reshape(len(case["q"]), -1).T.flatten()]), *value[1:])),
    ],
    "kr-lemma-2-skewness": [
        package("uncentred tokens", softmax, "third_cumulant_form", lambda X, alpha, u, v, w: torch.einsum(
            "...t,...td,...te,...tf,...d,...e,...f->...", alpha, X, X, X, u, v, w)),
    ],
    "kr-lemma-2-skewness/spread": [
        Mistake("2λ(1 − λ)", lambda check: replace(check, rhs=lambda X, z, e: check.rhs(X, z, e)
               * (1 - torch.linalg.eigvalsh(softmax.covariance(X, torch.softmax(z, -1)))[..., -1].clamp(max=1)).sqrt() + 1e-12)),
    ],
    "kr-lemma-2-skewness/mean": [
        Mistake("2s(1 − s²) below 1/3 as well", lambda check: replace(check, rhs=lambda X, z, e: (
            lambda s: 2 * s * (1 - s**2) + 1e-9)(softmax.mean(X, torch.softmax(z, -1)).norm(dim=-1)))),
    ],
    "kr-lemma-2-skewness/diagonal": [formula("half", lambda value, case: value / 2)],
    "kr-lemma-2-hessian": [
        package("the mixed block once", hessian, "preactivation", _cross_block_lost),
        Mistake("κR", lambda check: replace(check, rhs=lambda X, z, e, R: 4 / 27**0.5 * R[:, 0])),
    ],
    "kr-lemma-2-hessian/closed-form": [
        formula("1 + R² + R⁴ without R⁴", lambda value, case: (lambda R, t: torch.tensor(
            (1 - t) * ((t * R * R) ** 0.5 + (1 + t * R * R) ** 0.5), dtype=torch.float64))(
            case["R"], case["R"] ** 2 / (2 + case["R"] ** 2 + 2 * (1 + case["R"] ** 2) ** 0.5))),
    ],
    "kr-lemma-2-frobenius/hessian": [package("the mixed block once", hessian, "preactivation", _cross_block_lost)],
    "kr-lemma-2-frobenius/head": [package("σ″ left out", hessian, "hidden", _hidden_without_bend)],
    "kr-lemma-2-lipschitz": [
        Mistake("R for max(1, R)", lambda check: replace(check, rhs=lambda X, z, e, R: R[:, 0])),
    ],
    "kr-lemma-2-sharp": [
        package("σ″ left out", hessian, "hidden", _hidden_without_bend),
    ],
    "kr-lemma-2-sharp/unit": [package("σ″ left out", hessian, "hidden", _hidden_without_bend)],
    "kr-lemma-2-sharp/largest": [
        package("spread, z and skewness not coupled", smoothness, "L2", smoothness.L2_generic),
        formula("the camps", lambda value, case: torch.tensor(smoothness.L2_two_camps(case["R"], case["sigma"]))),
    ],
    "kr-lemma-2-sharp/first-order": [
        package("r_u²/(2 r_w R)", blocks, "G1", lambda R, r_u, r_w: r_w * R + r_u**2 / (2 * r_w * R)),
        package("r_w R alone", blocks, "G1", lambda R, r_u, r_w: r_w * R),
    ],
    "kr-lemma-2-sharp/first-order-flat": [
        package("the other branch", blocks, "G1", lambda R, r_u, r_w: r_w * R + r_u**2 / (4 * r_w * R)),
    ],
    "kr-lemma-2-sharp/naive": [Mistake("with the max", lambda check: replace(check, rhs=check.rhs + 5 * (1 - 0.2**2)))],
    "kr-lemma-2-two-camps": [
        package("K_U with the wrong sign", softmax, "third_cumulant",
                                                    lambda X, alpha, U: -_right_cumulant(X, alpha, U)),
    ],
    "kr-lemma-2-third": [
        package("a moment for the cumulant", hessian, "fourth_cumulant_form", _fourth_moment),
    ],
    "kr-lemma-2-third/derivative": [package("a moment for the cumulant", hessian, "fourth_cumulant_form", _fourth_moment)],
    "kr-lemma-2-third/cumulant": [
        package("a moment for the cumulant", hessian, "fourth_cumulant_form", _fourth_moment),
    ],
    "kr-lemma-2-third/upper": [
        package("a moment for the cumulant", hessian, "fourth_cumulant_form", _fourth_moment),
    ],
}  # fmt: skip
