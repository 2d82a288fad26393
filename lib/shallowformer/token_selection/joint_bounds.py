"""Bounds of joint training with η_u = η(t + 1)^{−p}/‖∇_u L‖ and η_W = η(t + 1)^{−q}/‖∇_W L‖, two tokens a sequence, starts at 0."""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float
from scipy.special import zeta
from torch import Tensor

from shallowformer import arguments
from shallowformer.token_selection import constants
from shallowformer.token_selection.instances import Instance


def norms(t: Float[Tensor, " k"], eta: float) -> tuple[Float[Tensor, " k"], Float[Tensor, " k"]]:
    """‖u_t‖ ≤ 3ηt^{1/3} and ‖W_t‖ ≤ η(1 + log t), for p = 2/3 and q = 1.

    Args:
        t: steps, at least 1.
        eta: η, above 0.

    Raises:
        ValueError: ``eta`` is not above 0.

    Source:
        Lemma 10 of Vasudeva, Deora, Thrampoulidis 2024, in our reading.
    """
    arguments.positive("eta", eta)
    return 3 * eta * t ** (1 / 3), eta * (1 + torch.log(t))


def attended_margin(
    gamma: float, nu: float, phi: float, least: float, most: float, n: int
) -> tuple[float, float]:
    """Two lower bounds on γ_t, the best margin of the attended tokens z_i = X_iᵀφ_i.

    φγ − (1 − φ)ν/γ, and for φ ≥ ½ also (m/2 − nν)/√(nM + n²ν).

    Args:
        gamma: γ, the best margin of the optimal tokens, above 0.
        nu: ν, at least 0, a bound on inner products of distinct tokens.
        phi: smallest optimal weight, in [½, 1].
        least: m = min ‖x_{i,opt}‖².
        most: M = max ‖x_{i,opt}‖².
        n: sequences.

    Raises:
        ValueError: an argument out of range.

    Source:
        Lemma 12 of Vasudeva, Deora, Thrampoulidis 2024; constants ours.
    """
    for name, value in (("gamma", gamma), ("least", least), ("most", most)):
        arguments.positive(name, value)
    arguments.at_least("nu", nu, 0.0)
    arguments.at_most("phi", arguments.at_least("phi", phi, 0.5), "one", 1.0)
    arguments.count("n", n)
    return phi * gamma - (1 - phi) * nu / gamma, (least / 2 - n * nu) / math.sqrt(n * most + n**2 * nu)


def curvature(eta: float, B: float) -> float:
    """C_J = ½[ζ(4/3)(ηB + 3η²B³)² + ζ(5/3)(2η²B³ + 3·8/(6√3) η³B⁵)], what second derivatives of log L add up to.

    Args:
        eta: η, above 0.
        B: largest norm of a token, above 0.

    Raises:
        ValueError: an argument out of range.

    Source:
        Ours, in Theorem 2 of Vasudeva, Deora, Thrampoulidis 2024; two tokens, p = 2/3, q = 1, start at 0.
    """
    arguments.positive("eta", eta)
    arguments.positive("B", B)
    first = (eta * B + 3 * eta**2 * B**3) ** 2
    # |φ″| ≤ 1/(6√3), the gap's speed ≤ 2B²r, ‖D‖ ≤ 2B, ‖u‖ ≤ 3η(t+1)^{1/3}: 8/(6√3) · 3η · η² B⁵.
    second = 2 * eta**2 * B**3 + 8 / (6 * math.sqrt(3)) * 3 * eta**3 * B**5
    return (float(zeta(4 / 3)) * first + float(zeta(5 / 3)) * second) / 2


def log_loss(t: Float[Tensor, " k"], eta: float, margin: float, C_J: float) -> Float[Tensor, " k"]:
    """Bound on log L(θ_t): C_J − 3γη((t + 1)^{1/3} − 1), if the attended tokens have margin γ all along.

    Args:
        t: steps.
        eta: η, above 0.
        margin: γ ≤ γ_t for all t, above 0.
        C_J: of ``curvature``, at least 0.

    Raises:
        ValueError: an argument out of range.

    Source:
        Ours: Theorem 2 of Vasudeva, Deora, Thrampoulidis 2024 with constants.
    """
    arguments.positive("eta", eta)
    arguments.positive("margin", margin)
    return arguments.at_least("C_J", C_J, 0.0) - 3 * margin * eta * ((t + 1) ** (1 / 3) - 1)


def decoder_margin(
    lengths: Float[Tensor, " t"], off: Float[Tensor, " t"], gamma: float, nu: float, n: int, C_J: float
) -> Float[Tensor, " t"]:
    """Lower bound on min_i y_i⟨u_t, x_{i,opt}⟩/‖u_t‖ after t = 1, 2, … steps, valid where it is not negative.

    γ − (C_J + log n)/S_t − (γ + ν/γ) Σ_{k<t} s_k(1 − φ^k)/S_t, S_t = Σ_{k<t} s_k.

    Args:
        lengths: s_0, s_1, … of u's steps.
        off: 1 − min_i φ_{i,opt} before each of them.
        gamma: γ, the best margin of the optimal tokens, above 0.
        nu: ν, at least 0.
        n: sequences.
        C_J: of ``curvature``, at least 0.

    Raises:
        ValueError: an argument out of range.

    Source:
        Ours: Theorem 4 of Vasudeva, Deora, Thrampoulidis 2024 with the full margin.
    """
    arguments.positive("gamma", gamma)
    arguments.at_least("nu", nu, 0.0)
    S = lengths.cumsum(0)
    lost = (lengths * off).cumsum(0) / S
    rest = arguments.at_least("C_J", C_J, 0.0) + math.log(arguments.count("n", n))
    return gamma - rest / S - (gamma + nu / gamma) * lost


@dataclass(frozen=True)
class Lemma11:
    """What Lemma 11′ asks of the data and the step, and what it then promises.

    Args:
        G: G = min_i(‖a_i‖² − ‖b_i‖²).
        kappa: κ = A_+/A_−.
        overlap: 2ν/b_−, to be at most 1 (N1).
        losses: 128κ(n − 1)ν/G, to be at most 1 (N2).
        logits: 11008κ³(n − 1)ν²/(Gb_−), to be at most 1 (N3).
        eta: largest step allowed (E).
        loss_ratio: C = 16κ.
        growth: c = G/(64κ√(2nA_+)), Δ_i ≥ c‖u_t‖.
        gap_ratio: 8CA_+/G ≥ Δ_k/Δ_i.
    """

    G: float
    kappa: float
    overlap: float
    losses: float
    logits: float
    eta: float
    loss_ratio: float
    growth: float
    gap_ratio: float

    @property
    def holds(self) -> bool:
        """Do the data meet (N0) to (N3)?"""
        return self.G > 0 and max(self.overlap, self.losses, self.logits) <= 1


def lemma_11(instance: Instance) -> Lemma11:
    """Conditions and constants of Lemma 11′: losses stay comparable, the decoder tells optimal tokens apart, their weights grow.

    Args:
        instance: the data, T = 2, queries are tokens; its decoder is used for the optimal tokens only.

    Raises:
        ValueError: T is not 2, or queries are no tokens.

    Source:
        Ours: Lemma 11 of Vasudeva, Deora, Thrampoulidis 2024 with constants and a proof, for two tokens.
    """
    if instance.T != 2 or instance.query_index is None:
        raise ValueError(
            f"instance must have T = 2 tokens a sequence, one of them the query, got T = {instance.T}"
        )
    n = instance.n
    a, b = instance.best.square().sum(1), (instance.best - instance.differences).square().sum(1)
    G, kappa, most, least = float((a - b).min()), float(a.max() / a.min()), float(a.max()), float(b.min())
    overlap = max(constants.nu(instance), constants.M_o(instance))
    over = lambda top, bottom: top / bottom if bottom > 0 else (math.inf if top > 0 or bottom < 0 else 0.0)
    return Lemma11(
        G, kappa, over(2 * overlap, least), over(128 * kappa * (n - 1) * overlap, G),
        over(11008 * kappa**3 * (n - 1) * overlap**2, G * least),
        min(1 / (204 * math.sqrt(n) * kappa * most), 1 / (3 * math.sqrt(most))), 16 * kappa,
        G / (64 * kappa * math.sqrt(2 * n * most)), over(8 * 16 * kappa * most, G),
    )  # fmt: skip
