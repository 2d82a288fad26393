"""What Lemma 11 asks of tokens and step: from numbers, from data, and from the size of Gaussian data."""

import math
from dataclasses import dataclass

from shallowformer import arguments
from shallowformer.contracts import Count, Level, NonNegative, Positive, contract, contracted
from shallowformer.token_selection import constants
from shallowformer.token_selection.instances import Instance


@contracted
@dataclass(frozen=True)
class Lemma11:
    """What Lemma 11 asks of tokens and step, and what it then promises."""

    T: int  # tokens a sequence, at least 2
    n: Count  # sequences
    least: Positive  # A_− = min ‖x_{i,opt}‖²
    most: float  # A_+ = max ‖x_{i,opt}‖²
    other: float  # b_− = min ‖x_{i,τ}‖² of the other tokens
    G: float  # min_{i,τ}(‖x_{i,opt}‖² − ‖x_{i,τ}‖²)
    nu: NonNegative  # ν, a bound on inner products of distinct tokens

    def __post_init__(self) -> None:
        arguments.count("T", self.T, 2)
        arguments.at_least("most", self.most, self.least)

    @property
    def kappa(self) -> float:
        """κ = A_+/A_−."""
        return self.most / self.least

    @property
    def loss_ratio(self) -> float:
        """C = 3T²κ ≥ ℓ_i/ℓ_k."""
        return 3 * self.T**2 * self.kappa

    @property
    def overlap(self) -> float:
        """Tν/b_−, to be at most 1 (N1)."""
        return _over(self.T * self.nu, self.other)

    @property
    def losses(self) -> float:
        """4[(T − 2) + T(n − 1)C]ν/G, to be at most 1 (N2)."""
        return _over(4 * (self.T - 2 + self.T * (self.n - 1) * self.loss_ratio) * self.nu, self.G)

    @property
    def logits(self) -> float:
        """12Tχ_T C²(n − 1)A_+ν²/(Gb_−H), to be below 1 (N3)."""
        chi = max(4 / 3, self.T**2 / (4 * (self.T - 1)))
        H = self.least if self.T == 2 else 0.9 * self.G
        top = 12 * self.T * chi * self.loss_ratio**2 * (self.n - 1) * self.most * self.nu**2
        return _over(top, self.G * self.other * H)

    @property
    def holds(self) -> bool:
        """Whether there are two sequences at least, and the tokens meet (N0) to (N3)."""
        above = self.n >= 2 and self.G > 0 and self.other > 0
        return above and self.overlap <= 1 and self.losses <= 1 and self.logits < 1

    @property
    def eta(self) -> float:
        """The largest step allowed (E)."""
        return min(
            4 / (33 * self.T**2 * math.sqrt(self.n) * self.kappa * self.most), 1 / (3 * math.sqrt(self.most))
        )

    @property
    def growth(self) -> float:
        """The factor c = G/(2TC√(1.011nA_+)) in Δ_{i,τ} ≥ cS_t."""
        return self.G / (2 * self.T * self.loss_ratio * math.sqrt(1.011 * self.n * self.most))

    @property
    def gap_ratio(self) -> float:
        """3TCA_+/G ≥ Δ_{k,σ}/Δ_{i,τ}."""
        return _over(3 * self.T * self.loss_ratio * self.most, self.G)


def _over(top: float, bottom: float) -> float:
    return top / bottom if bottom > 0 else (math.inf if top > 0 or bottom < 0 else 0.0)


def lemma_11(instance: Instance) -> Lemma11:
    """The numbers of Lemma 11 for data whose queries are tokens; the decoder is used for the optimal tokens only.

    Source: Ours: Lemma 11 of Vasudeva, Deora, Thrampoulidis 2024 with constants and a proof.
    """
    if instance.query_index is None:
        raise ValueError("instance must have tokens of its sequences as queries, got vectors")
    best = instance.best.square().sum(1)
    others = (instance.best[:, None] - instance.differences.reshape(instance.n, instance.T - 1, -1)).square().sum(-1)  # fmt: skip
    return Lemma11(
        instance.T,
        instance.n,
        float(best.min()),
        float(best.max()),
        float(others.min()),
        float((best[:, None] - others).min()),
        max(constants.nu(instance), constants.M_o(instance)),
    )


@contracted
@dataclass(frozen=True)
class Gaussian:
    """Condition 2: from which dimension on, and up to which step, (DM) with two tokens meets the conditions of Lemma 11."""

    n: int  # sequences, at least 2
    alpha: float  # α, above 1
    sigma: Positive  # σ
    delta: Level  # δ, with which it may fail

    def __post_init__(self) -> None:
        arguments.count("n", self.n, 2)
        arguments.positive("alpha - 1", self.alpha - 1)

    @property
    def dimension(self) -> int:
        """The least d that is asked for."""
        theta, others = 1 - self.alpha**-2, self.n - 1
        factor = max(36 * self.alpha**4, 2.2e4 * others**2 / theta**2, 1.1e4 * others * self.alpha**2 / theta)
        return math.ceil(factor * log_tails(2 * self.n, self.delta))

    def eta(self, d: int) -> float:
        """The largest step that is allowed in dimension d ≥ ``dimension``."""
        arguments.count("d", d, self.dimension)
        scale = self.alpha * self.sigma * math.sqrt(d)
        return min(1 / (35 * math.sqrt(self.n) * scale**2), 1 / (3.1 * scale))


@contract
def log_tails(N: Count, delta: Level) -> float:
    """log(N(N + 1)/δ): so many tails have N Gaussian vectors, two for each norm and for each pair."""
    return math.log(N * (N + 1) / delta)


@contracted
@dataclass(frozen=True)
class Orthogonal:
    """Lemma 9: within what N standard Gaussian vectors stay, all at once, with probability at least 1 − δ.

    Source: Lemma 9 of Vasudeva, Deora, Thrampoulidis 2024, in our reading; constants ours.
    """

    N: int  # vectors, at least 1
    d: Count  # dimension
    delta: float  # δ, in (0, 1)

    def __post_init__(self) -> None:
        log_tails(self.N, self.delta)

    @property
    def deviation(self) -> float:
        """ε = √(x/d), x = log(N(N + 1)/δ)."""
        return math.sqrt(log_tails(self.N, self.delta) / self.d)

    @property
    def shortest(self) -> float:
        """d(1 − 2ε), below every squared norm."""
        return self.d * (1 - 2 * self.deviation)

    @property
    def longest(self) -> float:
        """d(1 + 2ε + 2ε²), above every squared norm."""
        return self.d * (1 + 2 * self.deviation + 2 * self.deviation**2)

    @property
    def product(self) -> float:
        """d(√2 ε + ε²), above the size of every inner product of two."""
        return self.d * (math.sqrt(2) * self.deviation + self.deviation**2)
