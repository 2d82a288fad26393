"""A linear head on what the first blocks of a pretrained network leave behind, and what its attention does to the tokens of a sentence."""

import dataclasses
from collections.abc import Mapping

import torch
from jaxtyping import Bool, Float, Int
from torch import Generator, Tensor
from torch.nn import functional

from companion.theory.residual import collapse
from shallowformer import arguments
from shallowformer.contracts import Count, NonNegative, contract
from shallowformer.real import transformer
from shallowformer.real.transformer import Block, Transformer
from shallowformer.residual.spectra import condition, largest, smallest


def pooled(h: Float[Tensor, "n T d"], mask: Bool[Tensor, "n T"]) -> Float[Tensor, "n d"]:
    """h̄: mean of the states of a row's tokens, as sentence encoders have it."""
    return (h * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)


def last(h: Float[Tensor, "n T d"], mask: Bool[Tensor, "n T"]) -> Float[Tensor, "n d"]:
    """State of a row's last token, the only one that has seen all others where attention is causal."""
    places = torch.arange(mask.shape[1]) * mask
    return h[torch.arange(len(h)), places.argmax(1)]


def spread(h: Float[Tensor, "n T d"], mask: Bool[Tensor, "n T"]) -> Float[Tensor, " n"]:
    """‖ΠH‖_F/‖H‖_F of every row: relative distance of its tokens' states from their mean, 0 if all are alike, at most 1."""
    away = (h - pooled(h, mask)[:, None]) * mask[..., None]
    return away.norm(dim=(1, 2)) / (h * mask[..., None]).norm(dim=(1, 2))


@contract
@torch.no_grad()
def features(
    model: Transformer,
    ids: Int[Tensor, "n T"],
    mask: Bool[Tensor, "n T"],
    g: NonNegative = 1.0,
    size: Count = 50,
) -> tuple[Float[Tensor, "l n d"], Float[Tensor, "l n"]]:
    """Of the embeddings and of what every block leaves behind: one row a sentence, and the spread of its tokens' states.

    The row is the mean state of the tokens where attention sees both ways; where it is causal, the last token's behind the model's last norm.

    Args:
        size: sentences of about the same length that are computed together.
    """
    arguments.shape("mask", mask, tuple(ids.shape), "that of ids")
    order = mask.sum(1).argsort()
    of_rows, spreads = [], []
    for rows in order.split(size):
        seen = mask[rows]
        T = int(seen.any(0).nonzero().max()) + 1
        seen, states = seen[:, :T], transformer.stream(model, ids[rows, :T], mask[rows, :T], g)
        if model.norm_first:
            states = [transformer.layer_norm(model, h, model.norm) for h in states]
        pool = last if model.norm_first else pooled
        of_rows.append(torch.stack([pool(h, seen) for h in states]))
        spreads.append(torch.stack([spread(h, seen) for h in states]))
    back = order.argsort()
    return torch.cat(of_rows, 1)[:, back], torch.cat(spreads, 1)[:, back]


@contract
def shuffled(model: Transformer, generator: Generator) -> Transformer:
    """The same network with the entries of each matrix of its blocks in random order: sizes as trained, and nothing that was learnt."""

    def mixed(part: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        matrix, bias = part
        if matrix.ndim == 1:  # a layer norm
            return part
        order = torch.randperm(matrix.numel(), generator=generator)
        return matrix.flatten()[order].reshape(matrix.shape), bias

    def block(old: Block) -> Block:
        return Block(*(mixed(getattr(old, field.name)) for field in dataclasses.fields(old)))

    return dataclasses.replace(model, blocks=tuple(map(block, model.blocks)))


def rescaled(model: Transformer, g: float) -> Transformer:
    """What attention and network add divided by g > 0: with the norm last, the same network with coefficient g on its skips."""
    less = lambda part: tuple(each / g for each in part)
    blocks = tuple(dataclasses.replace(b, out=less(b.out), outer=less(b.outer)) for b in model.blocks)
    return dataclasses.replace(model, blocks=blocks)


@contract
def logits(
    model: Transformer, block: Block, h: Float[Tensor, "n T d"]
) -> Float[Tensor, "n {model.heads} T T"]:
    """L of every head, whose softmax by rows is the attention of a sentence without a mask."""
    n, T, d = h.shape
    q, k = (
        (h @ matrix + bias).reshape(n, T, model.heads, d // model.heads).transpose(1, 2)
        for matrix, bias in (block.query, block.key)
    )
    return q @ k.mT / (d // model.heads) ** 0.5


@torch.no_grad()
def anatomy(
    model: Transformer, block: Block, X: Float[Tensor, "N d"], coefficients: tuple[float, ...]
) -> Mapping[str, list[float]]:
    """What one block's attention is like at the states X of a sentence, as the statements on rank speak of it.

    Returns: by head ``range`` (ω of the logits), ``distance`` (‖S − 11ᵀ/N‖_F), ``bound`` (min{ψ_N(ω), ½}‖LΠ‖_F), ``left`` (‖ΠSΠ‖); then
    ``size`` (‖A‖_F/‖X‖_F of attention's output A), ``spreads`` of X and A, ``certain`` (σ_min(X) − ‖A‖, positive where Weyl gives full rank
    at g = 1), ``least`` (σ_min(A)/‖A‖), and ``condition`` of gX + A at every coefficient.
    """
    L = logits(model, block, X[None])[0]
    S, N = torch.softmax(L, -1), len(X)
    A = transformer.attention(model, block, X[None], torch.ones(1, 1, 1, N, dtype=torch.bool))[0]
    half = collapse.centred(L.mT).norm(dim=(-2, -1)) / 2
    relative = lambda M: float(collapse.centred(M).norm() / M.norm())
    return {
        "range": collapse.logit_range(L).tolist(),
        "distance": (S - 1 / N).norm(dim=(-2, -1)).tolist(),
        "bound": torch.minimum(collapse.distance_bound(L), half).tolist(),
        "left": collapse.difference(S).tolist(),
        "size": [float(A.norm() / X.norm())],
        "spreads": [relative(X), relative(A)],
        "certain": [float(smallest(X) - largest(A))],
        "least": [float(smallest(A) / largest(A))],
        "condition": [float(condition(g * X + A)) for g in coefficients],
    }


def head_step(F: Float[Tensor, "n k"]) -> float:
    """1/L = 2n/‖F‖², at most the inverse of the curvature of a mean cross-entropy softmax(F W): the softmax's Jacobian has norm at most ½.

    F has a column of ones if there is a bias. Source: Böhning 1992.
    """
    return 2 * len(F) / float(torch.linalg.matrix_norm(F, 2)) ** 2


def with_ones(F: Float[Tensor, "n d"]) -> Float[Tensor, "n d+1"]:
    """F̃: features, and a column of ones for the bias."""
    return torch.cat([F, F.new_ones(len(F), 1)], 1)


@contract
def train_head(
    features: Float[Tensor, "n d"], labels: Int[Tensor, " n"], classes: int, steps: Count
) -> tuple[Float[Tensor, " {steps}+1"], Float[Tensor, " {steps}+1"], Float[Tensor, "d+1 {classes}"]]:
    """A linear classifier with bias on fixed features, by full-batch gradient descent on the cross-entropy, from 0.

    With ``head_step`` no loss of a run is above the one before, whatever the features: every model has its own fair step.
    Returns: mean cross-entropy, and share of wrong answers, before every step and after the last; and W after the last.
    """
    arguments.floating("features", features, "n d")
    arguments.count("classes", classes, 2)
    if len(labels) != len(features) or int(labels.min()) < 0 or int(labels.max()) >= classes:
        raise ValueError(f"labels must be {len(features)} whole numbers from 0 to {classes - 1}, got others")
    F = with_ones(features)
    truth = functional.one_hot(labels, classes).to(F)
    # Descent from 0 stays in the span of the rows, W = F̃ᵀα: one product a step instead of two.
    gram, eta, alpha = F @ F.T, head_step(F), F.new_zeros(len(F), classes)
    said = [torch.zeros_like(alpha)]
    for _ in range(steps):
        alpha = alpha - eta / len(F) * (torch.softmax(said[-1], 1) - truth)
        said.append(gram @ alpha)
    S = torch.stack(said)
    losses = functional.cross_entropy(S.mT, labels.expand(len(S), -1), reduction="none").mean(1)
    return losses, (S.argmax(2) != labels).to(F).mean(1), F.T @ alpha
