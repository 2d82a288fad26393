"""The mean squared loss of a data set and its gradient by Lemma 1, at the speed of the machine's matrix products.

Here are the data, their checks, and what the package asks of a loss: outputs, losses with their gradient, directional derivatives in the
same pass, and pairings. How a pass is made is the business of ``torch_pass``, which runs everywhere, and of ``fused_pass``, which takes its
place behind the same methods where there is a CPU, numba, and enough to do.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING

import torch
from jaxtyping import Float, Int
from torch import Tensor

from shallowformer import arguments
from shallowformer.activations import TANH, Activation
from shallowformer.contracts import Count, contract
from shallowformer.kernel_regime.model.parameters import Parameters
from shallowformer.kernel_regime.model.students import Students
from shallowformer.kernel_regime.model.torch_pass import TorchPass
from shallowformer.queries import Query, last_token, resolve

if TYPE_CHECKING:
    from shallowformer.kernel_regime.model.fused_pass import FusedPass

#: From so many heads, and so many pairs of a token and a head, on the fused pass is the faster one.
FEWEST_HEADS, LEAST_WORK = 40, 2**16
#: Up to so many tokens it is as accurate; it adds them up one after the other, and at 4096 in float32 errs 3 to 6 times as much.
MOST_TOKENS = 2**8


class Loss:
    """L̂_n(φ) = (1/n) Σ_j (f(X⁽ʲ⁾; φ) − y⁽ʲ⁾)², prepared once for many evaluations; not for several threads at a time.

    Working memory is of order chunk·M·(T + d) + M·d², whatever n; one loop has 16 gradients at a time, and works on a copy of the tokens
    unless T and d are multiples of 4. Source: Arda, Cayci, Eryilmaz 2026, section 3.3 with Lemma 1.

    Args:
        y: labels, the same for all students or one column a student.
        chunk: samples worked on at a time, in torch; if not given, as many as fit in cache. Results depend on it only through rounding.
        fused: make large passes in one compiled loop if numba is there (its first call takes seconds, once a machine); results agree up
            to rounding.
    """

    @contract
    def __init__(
        self,
        X: Float[Tensor, "n T d"],
        y: Float[Tensor, " n"] | Float[Tensor, "n s"],
        query: Query = last_token,
        sigma: Activation = TANH,
        chunk: Count | None = None,
        fused: bool = True,
    ) -> None:
        """Check the data and lay them out."""
        arguments.tokens(X)
        dims = "n s" if isinstance(y, Tensor) and y.ndim == 2 else "n"
        arguments.floating("y", y, dims)
        arguments.shape("y", y, (len(X), *y.shape[1:]), f"[{dims.replace(' ', ', ')}] as in X")
        arguments.same_kind("X", X, y=y)
        self.X, self.y, self.sigma, self.chunk = X.contiguous(), y.reshape(len(X), -1), sigma, chunk
        self.q = resolve(query, X)
        self._torch = TorchPass(sigma, X.dtype, chunk)
        can = X.device.type == "cpu" and X.dtype in (torch.float32, torch.float64) and chunk is None
        self._fused = _fused(sigma.name) if fused and can else None
        if self._fused is not None:  # which would lay them out at every step
            self.q = self.q.contiguous()

    @property
    def n(self) -> int:
        """Number of samples."""
        return len(self.X)

    @property
    def labels(self) -> Float[Tensor, " n"]:
        """The labels of a loss for one student."""
        if self.y.shape[1] != 1:
            raise ValueError(f"loss must have the labels of one student, got {self.y.shape[1]} columns")
        return self.y[:, 0]

    @property
    def query(self) -> Query:
        """The queries that it was prepared with, as a function of its own inputs."""
        return lambda X: self.q

    @property
    def identity(self) -> tuple:
        """What tells it from others, for ``training.checkpoints``."""
        return self.X, self.y, self.q, self.sigma.name

    def __call__(self, phi: Parameters) -> tuple[Float[Tensor, ""], Parameters]:
        """Loss of one student, and its gradient with the blocks of ``phi``."""
        losses, gradient = self.losses_and_gradient(Students.of(phi))
        return losses[0], gradient.apart()[0]

    def losses(self, students: Students) -> Float[Tensor, " s"]:
        """Loss of each student, without its gradient."""
        return (self.outputs(students) - self.y).square().mean(0)

    def outputs(self, students: Students) -> Float[Tensor, "n s"]:
        """f(X⁽ʲ⁾; φ) of every sample and student."""
        self._fits(students)
        return self._way(self.n, students).outputs(students, self.X, self.q)

    def losses_and_gradient(
        self, students: Students, rows: Int[Tensor, " b"] | None = None
    ) -> tuple[Float[Tensor, " s"], Students]:
        """Loss and gradient of each student, on all samples or on ``rows``, repeated as they are drawn."""
        self._fits(students)
        samples = self.X, self.q, self.y
        if rows is not None:
            samples = (part[rows.to(part.device)] for part in samples)
        return self._way(self.n if rows is None else len(rows), students).gradient(students, *samples)

    def with_slopes(
        self, student: Students, directions: Sequence[Students]
    ) -> tuple[Float[Tensor, "1"], Students, Float[Tensor, " n"], Float[Tensor, "k n"]]:
        """Loss and gradient of one student, and in the same pass f(X⁽ʲ⁾; φ), and ⟨∇f(X⁽ʲ⁾; φ), δ⟩ for every direction δ of its heads."""
        self._fits(student)
        return self._way(self.n, student).gradient_and_slopes(student, self.X, self.q, self.y, directions)

    def pairings(self, heads: Students, v: Students) -> Iterator[tuple[slice, Float[Tensor, "b M"]]]:
        """⟨φ(X⁽ʲ⁾), v⟩ of every head, as ``transportation.pairing`` has it: again and again which samples, a few, and their pairings."""
        self._fits(heads)
        return self._torch.pairings(heads, self.X, self.q, v)

    def _way(self, n: int, students: Students) -> "TorchPass | FusedPass":
        """The faster pass over n samples: the fused one has tiles to fill and threads to wake."""
        M = len(students.c)
        T = self.X.shape[1]
        pays = M >= FEWEST_HEADS and n * T * M >= LEAST_WORK and T <= MOST_TOKENS
        return self._fused if self._fused is not None and pays else self._torch

    def _fits(self, students: Students) -> None:
        d, s = self.X.shape[2], len(students.widths)
        if students.U.shape[0] != d:
            raise ValueError(f"students must have the tokens' dimension d = {d}, got {students.U.shape[0]}")
        if self.y.shape[1] not in (1, s):
            raise ValueError(f"students must be {self.y.shape[1]}, as y has columns, got {s}")
        arguments.same_kind("X", self.X, students=students.W)


@cache
def _fused(sigma: str) -> "FusedPass | None":
    """The fused pass, if numba is there and the activation is one that it knows."""
    try:
        from shallowformer.kernel_regime.model import fused_pass
    except ImportError:
        return None
    return fused_pass.FusedPass(sigma) if sigma in fused_pass.ACTIVATIONS else None
