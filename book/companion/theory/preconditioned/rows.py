"""Attention whose tokens are rows of a table: the limit of long contexts and the noise around it are sums over the table.

The law is that of a row chosen at random; a query and its tokens are independent. In whitened coordinates g, at the balanced optimum
M̃ = PSQᵀ, Ã = cPS^½Qᵀ, B̃ = QS^½Qᵀ/c, c = √s₁/b, only h = Qᵀg counts: a token h' has the score ⟨h', (b/√s₁)S^½h⟩ at a query h, and the
answer is (√s₁/b)PS^½ẑ with ẑ the average of the h'. Its line, where Gaussian rows would lead to, is PSh. P changes no norm and is left out.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Generator, Tensor

from shallowformer.contracts import Count, Positive, contract, contracted
from shallowformer.preconditioned import covariances


def whitened(values: Float[Tensor, "k d"]) -> Float[Tensor, "k d"]:
    """Rows less their mean, times Σ^{−½}: mean 0 and covariance I."""
    centred = values - values.mean(0)
    return centred @ covariances.roots(centred.T @ centred / len(values))[1]


@contracted
@dataclass(frozen=True)
class Layer:
    """The balanced optimum at a radius; h are projections Qᵀg of whitened rows."""

    s: Float[Tensor, " r"]  # singular values of M̃, above 0, largest first
    b: Positive  # ‖B̃‖₂

    def scores(self, h: Float[Tensor, "q r"], tokens: Float[Tensor, "N r"]) -> Float[Tensor, "q N"]:
        """⟨h', (b/√s₁)S^½h⟩."""
        return h * (self.b * (self.s / self.s[0]).sqrt()) @ tokens.T

    def answers(self, h: Float[Tensor, "q r"], tokens: Float[Tensor, "N r"]) -> Float[Tensor, "q r"]:
        """(√s₁/b)S^½ẑ."""
        return torch.softmax(self.scores(h, tokens), 1) @ tokens * (self.s * self.s[0]).sqrt() / self.b

    def line(self, h: Float[Tensor, "q r"]) -> Float[Tensor, "q r"]:
        """Sh."""
        return h * self.s


def floor(layer: Layer, h: Float[Tensor, "k r"]) -> float:
    """Mean square of (answer − line) with infinitely many tokens, over ‖M̃‖²: the whole table, each row once, is the law."""
    return float((layer.answers(h, h) - layer.line(h)).square().sum(1).mean() / layer.s.square().sum())


def constant(layer: Layer, h: Float[Tensor, "k r"]) -> float:
    """What N · E|answer − its limit|² tends to, the mean over queries h of k Σ_j p_j²|(√s₁/b)S^½(h_j − ẑ)|²; 𝒱 if rows were Gaussian."""
    p = torch.softmax(layer.scores(h, h), 1)
    tokens, centre = h * (layer.s * layer.s[0]).sqrt() / layer.b, layer.answers(h, h)
    off = tokens.square().sum(1) - 2 * centre @ tokens.T + centre.square().sum(1, keepdim=True)
    return float(len(h) * (p.square() * off).sum(1).mean())


def cubic(layer: Layer, h: Float[Tensor, "k r"]) -> float:
    """The limit of floor/b² for b → 0, E_h|½√s₁ S^½ E[h'⟨h', (S/s₁)^½h⟩²]|²/‖M̃‖², from third moments of the rows alone."""
    weight = (layer.s / layer.s[0]).sqrt()
    third = torch.einsum("ka,kb,kc->abc", h, h * weight, h * weight) / len(h)
    bent = torch.einsum("abc,kb,kc->ka", third, h, h) / 2 * (layer.s * layer.s[0]).sqrt()
    return float(bent.square().sum(1).mean() / layer.s.square().sum())


@contract
def errors(
    layer: Layer,
    h: Float[Tensor, "k r"],
    N: Count,
    contexts: Count,
    queries: Count,
    generator: Generator,
    gaussian: bool = False,
) -> tuple[float, float]:
    """Mean square of answer − line over ‖M̃‖², and of answer − its limit, for contexts of N rows drawn with replacement, and query rows.

    Args:
        gaussian: draw standard normal rows in place of those of the table; their limit is the line.
    """
    rows = lambda n: (
        torch.randn(n, h.shape[1], generator=generator, dtype=h.dtype)
        if gaussian
        else h[torch.randint(len(h), (n,), generator=generator)]
    )
    of_line = of_limit = 0.0
    for _ in range(contexts):
        tokens, query = rows(N), rows(queries)
        answer, line = layer.answers(query, tokens), layer.line(query)
        limit = line if gaussian else layer.answers(query, h)
        of_line += float((answer - line).square().sum(1).mean()) / contexts
        of_limit += float((answer - limit).square().sum(1).mean()) / contexts
    return of_line / float(layer.s.square().sum()), of_limit


def kurtosis(g: Float[Tensor, "k d"]) -> float:
    """(E|g|⁴ − d)/(d(d + 1)) of whitened rows: N · E‖Σ^{−½}Σ̂Σ^{−½} − I‖_F² over its value for Gaussian rows, where it is 1."""
    d = g.shape[1]
    return float((g.square().sum(1).square().mean() - d) / (d * (d + 1)))
