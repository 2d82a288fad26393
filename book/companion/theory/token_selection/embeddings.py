"""How nearly orthogonal real tokens are: cosine similarities of the rows of an embedding matrix, from any model file that the reader has."""

import math
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Generator, Tensor

from shallowformer import arguments
from shallowformer.contracts import Count, contract

#: Pairs whose similarities are computed at once.
_AT_ONCE = 2**16


def load(path: Path | str, name: str | None = None) -> Float[Tensor, "V d"]:
    """The token embeddings in a file of weights; nothing in the file is executed. Returns: one token a row, in float64.

    Args:
        path: a ``.safetensors`` or ``.npz`` file, or a state dict as torch saves it.
        name: of the matrix in the file; the only one whose name speaks of word or token embeddings, if not given.
    """
    tensors = _tensors(Path(path))
    if name is None:
        names = [
            key
            for key, value in tensors.items()
            if value.ndim == 2 and any(part in key.lower() for part in ("word_emb", "embed_tokens", "wte", "tok_emb"))
        ]  # fmt: skip
        if len(names) != 1:
            raise ValueError(
                f"name must say which matrix of {path} holds the token embeddings, of {sorted(tensors)}; "
                f"{len(names)} look like it"
            )
        name = names[0]
    if name not in tensors:
        raise ValueError(f"name must be one of {sorted(tensors)}, got {name!r}")
    return arguments.floating(name, tensors[name].to(torch.float64), "V d")


def _tensors(path: Path) -> dict[str, Tensor]:
    if path.suffix == ".safetensors":
        from safetensors.torch import load_file  # only for readers who have such a file

        return load_file(path)
    if path.suffix == ".npz":
        with np.load(path, allow_pickle=False) as found:
            return {key: torch.from_numpy(found[key]) for key in found}
    found = torch.load(path, map_location="cpu", weights_only=True)
    if not isinstance(found, dict):
        raise ValueError(f"path must hold a mapping of names to tensors, got {type(found).__name__}")
    return {key: value for key, value in found.items() if isinstance(value, Tensor)}


def similarities(
    embeddings: Float[Tensor, "V d"], pairs: int | None = None, generator: Generator | None = None
) -> Float[Tensor, " p"]:
    """cos(e_v, e_w) of pairs of different tokens: so many drawn at random with replacement, or all V(V − 1)/2 if no number is given.

    Rows of zeros (padding) are left out.
    """
    E = embeddings[embeddings.norm(dim=1) > 0]
    V = len(E)
    if V < 2:
        raise ValueError(f"embeddings must hold at least 2 rows that are not 0, got {V}")
    E = torch.nn.functional.normalize(E, dim=1)
    if pairs is None:
        first, second = torch.triu_indices(V, V, 1)
    else:
        if generator is None:
            raise ValueError("generator must be given to draw pairs, got None")
        first = torch.randint(V, (arguments.count("pairs", pairs),), generator=generator)
        second = (first + torch.randint(1, V, (pairs,), generator=generator)) % V
    parts = zip(first.split(_AT_ONCE), second.split(_AT_ONCE), strict=True)
    return torch.cat([(E[a] * E[b]).sum(1) for a, b in parts]).clamp(-1, 1)


@contract
def histogram(
    cosines: Float[Tensor, " p"], bins: Count = 80
) -> tuple[Float[Tensor, " {bins}+1"], Int[Tensor, " {bins}"]]:
    """How many similarities lie between each two of evenly spaced edges from −1 to 1. Returns: edges and counts."""
    counts, edges = np.histogram(cosines.numpy(), bins, (-1, 1))
    return torch.from_numpy(edges), torch.from_numpy(counts)


@contract
def random_spread(d: Count) -> float:
    """1/√d, the standard deviation of the cosine of two independent random directions: what the histogram is compared with."""
    return 1 / math.sqrt(d)
