"""A pass over the data as one compiled loop on a CPU: what ``torch_pass`` does, without a trip to memory between two operations.

For a few samples at a time, and as many heads as share a vector, all that Lemma 1 needs is summed over tokens as there; when all heads of the
samples are done, their residuals are known and the gradients follow. Samples are cut into parts that do not depend on the number of threads,
and what the parts found is added in their order: outputs, losses and gradients are the same bit for bit on any number of threads.

What is done before and after the loop is left to numpy where it is large: torch's threads would spin for milliseconds afterwards, on the
cores that the loop is about to use.
"""

import math
import os
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from shallowformer.compiled.attention import TOKENS, attention
from shallowformer.compiled.vectors import BYTES
from shallowformer.kernel_regime.model.students import Students

#: Activations a + b·tanh(κz), by name: (κ, a, b).
ACTIVATIONS = {"tanh": (1.0, 0.0, 1.0), "logistic": (0.5, 0.5, 0.5)}

#: Parts that samples are cut into at most, and samples that make a part at least.
PARTS, SAMPLES = 16, 64

#: Bytes of sums over tokens that are kept for a few samples, until their residuals are known.
IN_CACHE = 2**19


class FusedPass:
    """What ``Loss`` asks of a pass over samples with tokens X, queries q and labels y; sigma is a name, one of ``ACTIVATIONS``."""

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
        return _losses(f, y), gradient

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
        return _losses(f, y), gradient, f[:, 0], slopes.T.contiguous()

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
        c, U, W = _packed(students.c * scale, students.U, students.W)
        heads = (c, U, W * dtype.type(math.log2(math.e)))
        moves = [_packed(move.c * scale, move.U, move.W) for move in directions] or [
            (np.empty(0, dtype),) * 3
        ]
        f = np.empty((n, len(students.widths)), dtype)
        slopes = np.empty((n, len(directions)), dtype)
        labels = f[:0] if y is None else np.array(np.broadcast_to(_array(y), f.shape), order="C")
        starts = np.cumsum([0, *students.widths]).astype(np.uintp)
        given = (
            _padded(_array(X), _filling(d)).reshape(-1),
            _padded(_array(q), _filling(d)).reshape(-1),
            labels,
            *heads,
            *map(np.concatenate, zip(*moves, strict=True)),
            starts,
        )
        factors = (
            np.array(self._sigma, dtype),
            dtype.type(2 / n),
            _need_no_shift(students.W),
        )

        loop, parts = attention[dtype.name], max(1, min(PARTS, n // SAMPLES))
        gradients = [np.zeros((parts, 0 if y is None else block.size), dtype) for block in heads]
        width, M = d + _filling(d), heads[0].size
        chunk = 4 * max(1, min(16, IN_CACHE // (4 * dtype.itemsize * M * (2 * width + 4))))

        def part(k: int, scratch: tuple[np.ndarray, ...]) -> None:
            sizes = np.array([k * n // parts, (k + 1) * n // parts, T, width, chunk], np.uintp)
            loop(*given, sizes, *factors, f, slopes, *(block[k] for block in gradients), *scratch)

        _share_out(part, parts, lambda: _scratch(dtype, chunk, width, M))
        return _results(students, scale, f, slopes, gradients if y is not None else None)


def _results(
    students: Students, scale: Tensor, f: np.ndarray, slopes: np.ndarray, gradients: list[np.ndarray] | None
) -> tuple[Tensor, Tensor, Students | None]:
    """What was summed up, in the layout of the students."""
    outputs, slopes = torch.from_numpy(f), torch.from_numpy(slopes)
    if gradients is None:
        return outputs, slopes, None
    c, U, W = (_apart(block.sum(0), like) for block, like in zip(gradients, students.blocks, strict=True))
    return outputs, slopes, Students(c * scale, U, W, students.widths)


def _losses(f: Tensor, y: Tensor) -> Tensor:
    """Mean squares, summed by numpy in one thread: torch shares a long sum out, which changes its last bits."""
    squares = np.square(_array(f) - _array(y))
    return torch.from_numpy(squares.mean(0, dtype=np.float64).astype(squares.dtype))


def _share_out(part: Callable[[int, tuple], None], parts: int, scratch: Callable[[], tuple]) -> None:
    """Do all parts, each thread with memory of its own: as many threads as torch has, this one among them."""
    todo = deque(range(parts))

    def work() -> None:
        mine = scratch()
        while True:
            try:
                k = todo.popleft()
            except IndexError:
                return
            part(k, mine)

    others = [_helpers().submit(work) for _ in range(min(parts, torch.get_num_threads()) - 1)]
    try:
        work()
    finally:  # whatever happened here, nobody goes on writing to what the caller gets or has given up
        todo.clear()
        wait(others)
    for other in others:
        other.result()


@cache
def _helpers() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(os.cpu_count(), thread_name_prefix="fused")


# Threads do not survive a fork.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_helpers.cache_clear)


def _array(part: Tensor) -> np.ndarray:
    return part.detach().contiguous().numpy()


def _need_no_shift(W: Tensor) -> bool:
    """Whether no logit can be so large that its power of 2 overflows: tokens and queries lie in the unit ball."""
    entries = _array(W)
    with np.errstate(over="ignore"):
        largest = np.sqrt(np.square(entries).sum((0, 1)).max())
    return bool(largest * math.log2(math.e) <= 0.65 * np.finfo(entries.dtype).maxexp)


def _packed(c: Tensor, U: Tensor, W: Tensor) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Blocks, flat, as tiles of heads that share a vector: c [tile, head], U [tile, k, head], W [tile, k, l, head]; k and l filled up to a multiple of 4."""
    return tuple(_tiles(_array(block)) for block in (c, U, W.transpose(0, 1)))


def _lanes(dtype: np.dtype) -> int:
    return BYTES // dtype.itemsize


def _filling(size: int) -> int:
    """What is missing to the next multiple of 4."""
    return -size % 4


def _padded(array: np.ndarray, *missing: int) -> np.ndarray:
    """With so many zeros more at the end of the last dimensions."""
    before = [0] * (array.ndim - len(missing))
    return np.pad(array, [(0, size) for size in (*before, *missing)]) if any(missing) else array


def _tiles(block: np.ndarray) -> np.ndarray:
    L = _lanes(block.dtype)
    filled = _padded(block, *map(_filling, block.shape[:-1]), -block.shape[-1] % L)
    return np.moveaxis(filled.reshape(*filled.shape[:-1], -1, L), -2, 0).reshape(-1)


def _apart(flat: np.ndarray, like: Tensor) -> Tensor:
    """The inverse of ``_packed`` for one block."""
    *dims, M = like.shape
    filled = [size + _filling(size) for size in dims]
    block = np.moveaxis(flat.reshape(-1, *filled, _lanes(flat.dtype)), 0, -2).reshape(*filled, -1)
    block = block[(*map(slice, dims), slice(M))]
    return torch.from_numpy(np.ascontiguousarray(block.swapaxes(0, 1) if len(dims) == 2 else block))


def _scratch(dtype: np.dtype, chunk: int, d: int, heads: int) -> tuple[np.ndarray, ...]:
    """Memory that a thread works in."""
    sizes = (*[chunk * heads * d] * 2, *[chunk * heads] * 4, d * _lanes(dtype), *[TOKENS * _lanes(dtype)] * 2)
    return tuple(np.zeros(size, dtype) for size in sizes)
