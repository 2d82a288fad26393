"""The first L blocks of a pretrained GPT-2, with a coefficient g on both skip connections of a block, read from the reader's file.

A block is h ← g·h + attention(norm(h)), h ← g·h + network(norm(h)); g = 1 is the model as it was trained, g = 0 has no residual.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional

from shallowformer import arguments
from shallowformer.contracts import Count, NonNegative, contract

#: Entries of a head of every GPT-2, from which the number of heads follows.
HEAD = 64
#: What a block holds, as the file names it.
PARTS = tuple(
    f"{part}.{kind}"
    for part in ("ln_1", "attn.c_attn", "attn.c_proj", "ln_2", "mlp.c_fc", "mlp.c_proj")
    for kind in ("weight", "bias")
)

Block = Mapping[str, Tensor]


@dataclass(frozen=True)
class Truncated:
    """Embeddings, the first L blocks, the norm behind the last one."""

    tokens: Float[Tensor, "V d"]  # embedding of every token
    places: Float[Tensor, "T d"]  # embedding of every position
    blocks: tuple[Block, ...]  # of the model, the first L; each maps ``PARTS`` to tensors
    norm: tuple[Float[Tensor, " d"], Float[Tensor, " d"]]  # weight and bias of the last layer norm
    heads: int  # of attention, a divisor of d


@contract
def load(
    path: Path | str, L: Count, heads: int | None = None, dtype: torch.dtype = torch.float32
) -> Truncated:
    """Read the first L blocks of a checkpoint; nothing in the file is executed, and no other block is read.

    Args:
        path: of a ``.safetensors`` file with GPT-2's names, with or without ``transformer.`` before them.
        heads: of attention; as many as have 64 entries each if not given, as in every GPT-2.
    """
    from safetensors import safe_open  # only for readers who have such a file

    with safe_open(str(path), framework="pt") as file:
        names = set(file.keys())
        before = "transformer." if "transformer.wte.weight" in names else ""

        def part(name: str) -> Tensor:
            if before + name not in names:
                raise ValueError(
                    f"path must hold a GPT-2 with {before + name}, got {len(names)} other tensors"
                )
            return file.get_tensor(before + name).to(dtype)

        there = {
            int(name.split("h.", 1)[1].split(".")[0]) for name in names if name.startswith(before + "h.")
        }
        if not set(range(L)) <= there:
            raise ValueError(f"L must be at most {len(there)}, the blocks in {path}, got {L}")
        tokens, places = part("wte.weight"), part("wpe.weight")
        blocks = tuple({name: part(f"h.{l}.{name}") for name in PARTS} for l in range(L))
        norm = part("ln_f.weight"), part("ln_f.bias")
    d = tokens.shape[1]
    heads = max(1, d // HEAD) if heads is None else arguments.count("heads", heads)
    if d % heads:
        raise ValueError(f"heads must divide the width {d}, got {heads}")
    return Truncated(tokens, places, blocks, norm, heads)


@contract
def stream(model: Truncated, ids: Int[Tensor, "n T"], g: NonNegative = 1.0) -> Float[Tensor, "n T d"]:
    """What the L blocks leave behind, before the last norm."""
    V, longest = len(model.tokens), len(model.places)
    if ids.numel() == 0 or int(ids.min()) < 0 or int(ids.max()) >= V:
        raise ValueError(
            f"ids must be whole numbers from 0 to {V - 1}, at least one, got {tuple(ids.shape)} others"
        )
    if ids.shape[1] > longest:
        raise ValueError(f"ids must have at most {longest} tokens a row, got {ids.shape[1]}")
    h = model.tokens[ids] + model.places[: ids.shape[1]]
    for block in model.blocks:
        h = g * h + _attention(block, _norm(h, block["ln_1.weight"], block["ln_1.bias"]), model.heads)
        h = g * h + _network(block, _norm(h, block["ln_2.weight"], block["ln_2.bias"]))
    return h


def _norm(h: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return functional.layer_norm(h, h.shape[-1:], weight, bias, eps=1e-5)


def _attention(block: Block, h: Tensor, heads: int) -> Tensor:
    """Causal attention: a token looks at itself and at earlier ones."""
    n, T, d = h.shape
    q, k, v = (
        part.reshape(n, T, heads, d // heads).transpose(1, 2)
        for part in (h @ block["attn.c_attn.weight"] + block["attn.c_attn.bias"]).split(d, -1)
    )
    seen = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    return seen.transpose(1, 2).reshape(n, T, d) @ block["attn.c_proj.weight"] + block["attn.c_proj.bias"]


def _network(block: Block, h: Tensor) -> Tensor:
    inner = functional.gelu(h @ block["mlp.c_fc.weight"] + block["mlp.c_fc.bias"], approximate="tanh")
    return inner @ block["mlp.c_proj.weight"] + block["mlp.c_proj.bias"]


@contract
@torch.no_grad()
def features(
    model: Truncated, ids: Int[Tensor, "n T"], mask: Int[Tensor, "n T"], g: float = 1.0, size: Count = 32
) -> Float[Tensor, "n d"]:
    """State of the last token of every row, behind the last norm, ``size`` rows at a time.

    Args:
        mask: 1 for a token, 0 for what fills up, each row ones and then zeros.
    """
    arguments.shape("mask", mask, tuple(ids.shape), "that of ids")
    ahead = mask[:, 1:] > mask[:, :-1]
    if bool(ahead.any()) or not bool((mask[:, 0] == 1).all()) or not bool(((mask == 0) | (mask == 1)).all()):
        raise ValueError("mask must hold ones and then zeros in each row, at least one 1, got another order")
    last = mask.sum(1) - 1
    parts = []
    for rows in torch.arange(len(ids)).split(size):
        h = stream(model, ids[rows], g)[torch.arange(len(rows)), last[rows]]
        parts.append(_norm(h, *model.norm))
    return torch.cat(parts)


def head_step(F: Float[Tensor, "n k"]) -> float:
    """1/L = 2n/‖F‖², at most the inverse of the curvature of a mean cross-entropy softmax(F W): the softmax's Jacobian has norm at most ½.

    F has a column of ones if there is a bias. Source: Böhning 1992.
    """
    return 2 * len(F) / float(torch.linalg.matrix_norm(F, 2)) ** 2


@contract
def train_head(
    features: Float[Tensor, "n d"], labels: Int[Tensor, " n"], classes: int, steps: Count
) -> tuple[Float[Tensor, " {steps}+1"], Float[Tensor, " {steps}+1"]]:
    """A linear classifier with bias on fixed features, by full-batch gradient descent on the cross-entropy, from 0.

    With ``head_step`` no loss of a run is above the one before, whatever the features: every model has its own fair step.
    Returns: mean cross-entropy, and share of wrong answers, before every step and after the last.
    """
    arguments.floating("features", features, "n d")
    arguments.count("classes", classes, 2)
    if len(labels) != len(features) or int(labels.min()) < 0 or int(labels.max()) >= classes:
        raise ValueError(f"labels must be {len(features)} whole numbers from 0 to {classes - 1}, got others")
    F = torch.cat([features, features.new_ones(len(features), 1)], 1)
    truth = functional.one_hot(labels, classes).to(F)
    eta = head_step(F)
    W, losses, wrong = F.new_zeros(F.shape[1], classes), [], []
    for _ in range(steps + 1):
        said = F @ W
        losses.append(functional.cross_entropy(said, labels))
        wrong.append((said.argmax(1) != labels).to(F).mean())
        W = W - eta / len(F) * F.T @ (torch.softmax(said, 1) - truth)
    return torch.stack(losses), torch.stack(wrong)
