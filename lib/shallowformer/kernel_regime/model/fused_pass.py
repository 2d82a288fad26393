"""A pass over the data as one compiled loop on a CPU: what ``torch_pass`` does, without a trip to memory between two operations.

For a few samples at a time, and ``WIDTH`` heads at a time, all that Lemma 1 needs is summed over tokens as there; when all heads of the
samples are done, their residuals are known and the gradients follow. Samples are cut into parts that do not depend on the number of threads,
and what the parts found is added in their order: a run is the same bit for bit on any number of threads.
"""

import math
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from shallowformer.compiled.attention import attention
from shallowformer.compiled.rows import WIDTH, Numbers, integer
from shallowformer.kernel_regime.model.students import Students

#: Activations a + b·tanh(κz), by name: (κ, a, b).
ACTIVATIONS = {"tanh": (1.0, 0.0, 1.0), "logistic": (0.5, 0.5, 0.5)}

#: Parts that samples are cut into at most, and samples that make a part at least.
PARTS, SAMPLES = 16, 64

#: Bytes of sums over tokens that are kept for a few samples, until their residuals are known.
IN_CACHE = 2**18


class FusedPass:
    """What ``Loss`` asks of a pass over samples with tokens X, queries q and labels y.

    Args:
        sigma: name of the activation, one of ``ACTIVATIONS``.
    """

    def __init__(self, sigma: str) -> None:
        self._sigma = ACTIVATIONS[sigma]

    def outputs(
        self, students: Students, X: Float[Tensor, "n T d"], q: Float[Tensor, "n d"]
    ) -> Float[Tensor, "n s"]:
        """f(X⁽ʲ⁾; φ) of every sample and student."""
        return self._over_samples(students, X, q)[0]

    def gradient(
        self,
        students: Students,
        X: Float[Tensor, "n T d"],
        q: Float[Tensor, "n d"],
        y: Float[Tensor, "n columns"],
    ) -> tuple[Float[Tensor, " s"], Students]:
        """Losses and gradients."""
        f, _, gradient = self._over_samples(students, X, q, y)
        return (f - y).square().mean(0), gradient

    def gradient_and_slopes(
        self,
        student: Students,
        X: Float[Tensor, "n T d"],
        q: Float[Tensor, "n d"],
        y: Float[Tensor, "n 1"],
        directions: Sequence[Students],
    ) -> tuple[Float[Tensor, " 1"], Students, Float[Tensor, " n"], Float[Tensor, "k n"]]:
        """Of one student: its loss and gradient, f(X⁽ʲ⁾; φ), and ⟨∇f(X⁽ʲ⁾; φ), δ⟩."""
        f, slopes, gradient = self._over_samples(student, X, q, y, directions)
        return (f - y).square().mean(0), gradient, f[:, 0], slopes.T.contiguous()

    def _over_samples(
        self,
        students: Students,
        X: Tensor,
        q: Tensor,
        y: Tensor | None = None,
        directions: Sequence[Students] = (),
    ) -> tuple[Tensor, Tensor, Students | None]:
        """Outputs [n, s], slopes [n, k], and, with labels, gradients."""
        (n, T, d), dtype = X.shape, _array(X).dtype
        scale = students.spread([m**-0.5 for m in students.widths])
        c, U, W = _packed(students.c * scale, students.U, students.W * math.log2(math.e))
        moves = [_packed(delta.c * scale, delta.U, delta.W) for delta in directions]
        dc, dU, dW = (np.concatenate([np.empty(0, dtype), *blocks]) for blocks in zip(*moves, strict=True)) if moves else (np.empty(0, dtype),) * 3  # fmt: skip
        f, slopes = np.empty((n, len(students.widths)), dtype), np.empty((n, len(moves)), dtype)
        parts = max(1, min(PARTS, n // SAMPLES))
        gradients = [np.zeros((parts, 0 if y is None else block.size), dtype) for block in (c, U, W)]
        labels = np.empty((0, 0), dtype) if y is None else np.ascontiguousarray(np.broadcast_to(_array(y), f.shape))  # fmt: skip
        tokens, queries, starts = _filled(_array(X)), _filled(_array(q)), np.cumsum([0, *students.widths]).astype(np.uintp)  # fmt: skip
        filled = 4 * math.ceil(d / 4)
        chunk = 4 * max(1, min(16, IN_CACHE // (4 * dtype.itemsize * c.size * (2 * filled + 3))))
        longest = torch.linalg.vector_norm(students.W, dim=(0, 1)).max()
        safe = bool(longest * math.log2(math.e) <= 0.65 * np.finfo(dtype).maxexp)
        numbers, sigma = Numbers.of(dtype), tuple(dtype.type(a) for a in self._sigma)

        def part(k: int) -> None:
            sizes = np.array([k * n // parts, (k + 1) * n // parts, T, 4 * math.ceil(T / 4), filled, chunk], np.uintp)  # fmt: skip
            attention(
                tokens, queries, labels, c, U, W, dc, dU, dW, starts, sizes, numbers, sigma, dtype.type(2 / n), safe,
                f, slopes, *(block[k] for block in gradients), *_scratch(dtype, chunk, filled, c.size),
            )  # fmt: skip

        threads = min(parts, torch.get_num_threads())
        for _ in map(part, range(parts)) if threads == 1 else _threads(threads).map(part, range(parts)):
            pass
        if not torch.isfinite(students.W).all():  # exponentials are cut off below, which would hide it
            f.fill(math.nan)
        outputs, slopes = torch.from_numpy(f), torch.from_numpy(slopes)
        if y is None:
            return outputs, slopes, None
        blocks = (_apart(block.sum(0), like) for block, like in zip(gradients, students.blocks, strict=True))
        grad_c, grad_U, grad_W = blocks
        return outputs, slopes, Students(grad_c * scale, grad_U, grad_W, students.widths)


@cache
def _threads(count: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(count, thread_name_prefix="fused")


# Threads do not survive a fork.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_threads.cache_clear)


def _array(part: Tensor) -> np.ndarray:
    return part.detach().contiguous().numpy()


def _filled(rows: np.ndarray) -> np.ndarray:
    """Flat, with all dimensions but the first filled up with zeros to multiples of 4."""
    missing = [-size % 4 for size in rows.shape[1:]]
    if any(missing):
        rows = np.pad(rows, [(0, 0), *((0, size) for size in missing)])
    return rows.reshape(-1)


def _packed(c: Tensor, U: Tensor, W: Tensor) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Blocks, flat, as tiles of ``WIDTH`` heads: c [tile, head], U [tile, k, head], W [tile, k, l, head]; k and l filled up to a multiple of 4."""
    return tuple(_tiles(_array(block)) for block in (c, U, W.transpose(0, 1)))


def _tiles(block: np.ndarray) -> np.ndarray:
    filled = np.pad(block, [(0, -size % 4) for size in block.shape[:-1]] + [(0, -block.shape[-1] % WIDTH)])
    return np.moveaxis(filled.reshape(*filled.shape[:-1], -1, WIDTH), -2, 0).reshape(-1)


def _apart(flat: np.ndarray, like: Tensor) -> Tensor:
    """The inverse of ``_packed`` for one block."""
    *dims, M = like.shape
    filled = [4 * math.ceil(size / 4) for size in dims]
    block = np.moveaxis(flat.reshape(-1, *filled, WIDTH), 0, -2).reshape(*filled, -1)
    block = block[(*map(slice, dims), slice(M))]
    return torch.from_numpy(np.ascontiguousarray(block.swapaxes(0, 1) if len(dims) == 2 else block))


def _scratch(dtype: np.dtype, chunk: int, width: int, heads: int) -> tuple[np.ndarray, ...]:
    """Memory that a part works in."""
    whole = np.empty(4 * WIDTH, integer(dtype))
    sums = [np.empty(chunk * heads * width, dtype) for _ in range(2)]
    rows = [np.empty(chunk * heads, dtype) for _ in range(3)]
    tile = [np.empty(4 * width * WIDTH, dtype) for _ in range(2)]
    return whole, whole.view(dtype), *sums, *rows, *tile
