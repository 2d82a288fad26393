"""The mean squared loss of a data set and its gradient by Lemma 1, at the speed of the machine's matrix products.

One pass over the logits serves value and gradient. With e_t = exp(logit_t) and s_t = ⟨U, X_t⟩, all that Lemma 1 needs are sums
over tokens of e_t, e_t X_t, e_t s_t and e_t s_t X_t: the first two give a, the third z = ⟨U, a⟩, and the last M U, because
M U = Σ_t α_t s_t X_t − z a. Both sums of vectors are matrix products with the tokens, to which a 1 is appended for the sums of numbers.
"""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from shallowformer import arguments
from shallowformer.kernel_regime.activations import TANH, Activation
from shallowformer.kernel_regime.heads import Heads
from shallowformer.kernel_regime.parameters import Parameters
from shallowformer.kernel_regime.queries import Query, last_token, resolve

#: Bytes of logits that a chunk of samples may fill, so that what is worked on stays in cache: CPU, and anything else.
IN_CACHE, ELSEWHERE = 2**20, 2**28


class Loss:
    """L̂_n(φ) = (1/n) Σ_j (f(X⁽ʲ⁾; φ) − y⁽ʲ⁾)², prepared once for many evaluations; not for several threads at a time.

    Working memory is of order chunk·M·(T + d) + M·d², whatever n. Logits are exponentiated as they are as long as they cannot
    overflow; from there on their maximum is subtracted first.

    Args:
        X: tokens in the unit ball, Float[Tensor, "n T d"].
        y: labels, Float[Tensor, "n"], or one column a student, Float[Tensor, "n s"].
        query: how q_X is made.
        sigma: the activation.
        chunk: samples worked on at a time; if not given, as many as fit in cache. Results depend on it only through rounding.
        compiled: let ``torch.compile`` fuse the elementwise part (needs a C++ compiler; the first call takes seconds).

    Raises:
        ValueError: tokens or queries outside the unit ball; ``y`` of another length, dtype or device, or not finite; ``chunk`` below 1.

    Source:
        Arda, Cayci, Eryilmaz 2026, section 3.3 with Lemma 1.
    """

    def __init__(
        self,
        X: Tensor,
        y: Tensor,
        query: Query = last_token,
        sigma: Activation = TANH,
        chunk: int | None = None,
        compiled: bool = False,
    ) -> None:
        """Check the data and lay them out."""
        arguments.tokens(X)
        dims = "n s" if isinstance(y, Tensor) and y.ndim == 2 else "n"
        arguments.floating("y", y, dims)
        arguments.shape("y", y, (len(X), *y.shape[1:]), f"[{dims.replace(' ', ', ')}] as in X")
        arguments.same_kind("X", X, y=y)
        if chunk is not None:
            arguments.count("chunk", chunk)
        self.X, self.y, self.sigma, self.chunk = X.contiguous(), y.reshape(len(X), -1), sigma, chunk
        self.q = resolve(query, X)
        self._second_half = torch.compile(_from_sums, dynamic=False) if compiled else _from_sums
        self._room: dict[tuple, _Room] = {}
        # Room for a sum over tokens, times ‖U‖, above the largest exponential.
        self._limit = 0.65 * math.log(torch.finfo(X.dtype).max)

    @property
    def n(self) -> int:
        """Number of samples."""
        return len(self.X)

    def __call__(self, phi: Parameters) -> tuple[Tensor, Parameters]:
        """Loss and gradient of one student.

        Args:
            phi: its parameters.

        Returns:
            The loss, a scalar tensor, and the gradient, with the blocks of ``phi``.

        Raises:
            ValueError: parameters that do not fit the data.
        """
        losses, gradient = self.of(Heads.of(phi))
        return losses[0], gradient.students()[0]

    @torch.no_grad()
    def of(self, heads: Heads, rows: Tensor | None = None) -> tuple[Tensor, Heads]:
        """Loss and gradient of each student, on all samples or on some.

        Args:
            heads: the students' heads.
            rows: which samples, Int[Tensor, "b"], repeated as they are drawn; all of them if not given.

        Returns:
            Losses, Float[Tensor, "s"], and the gradients.

        Raises:
            ValueError: heads that do not fit the data.
        """
        self._fits(heads)
        X, y, q = self.X, self.y, self.q
        if rows is not None:
            X, y, q = X[rows], y[rows], q[rows]
        n, d, M = len(X), X.shape[2], len(heads.c)
        scale = heads.spread([m**-0.5 for m in heads.widths])
        readout, owner = _blocks_of(heads.c * scale, heads.widths), _owners(heads)
        # 2^x is far cheaper than e^x where it is vectorised.
        W = (heads.W * math.log2(math.e)).view(d, d * M)
        safe = self._logits_are_below(heads)
        losses = heads.c.new_zeros(len(heads.widths))
        grad_c, grad_U, grad_W = torch.zeros_like(heads.c), torch.zeros_like(heads.U), torch.zeros_like(W)
        for now in self._chunks(n, M, X.shape[1]):
            sums, weighted = self._sums(X[now], q[now], heads.U, W, safe)
            self._passing(heads, now, sums, weighted)
            loss, pulled, left_U, left_W = self._second_half(
                sums,
                weighted,
                heads.c * scale,
                readout,
                owner,
                y[now],
                2 / n,
                self.sigma.value,
                self.sigma.first,
            )
            losses += loss / n
            grad_c += pulled
            grad_U += left_U
            grad_W.addmm_(q[now].T, left_W.flatten(1))
        return losses, Heads(grad_c * scale, grad_U, grad_W.view(d, d, M), heads.widths)

    def _passing(self, heads: Heads, now: slice, sums: Tensor, weighted: Tensor) -> None:
        """What a chunk of samples offers on the way to the gradient, for those who want to measure more; nothing here."""

    @torch.no_grad()
    def outputs(self, heads: Heads) -> Tensor:
        """f(X⁽ʲ⁾; φ) of every sample and student.

        Args:
            heads: the students' heads.

        Returns:
            Float[Tensor, "n s"].

        Raises:
            ValueError: heads that do not fit the data.
        """
        self._fits(heads)
        n, T, d = self.X.shape
        scale = heads.spread([m**-0.5 for m in heads.widths])
        readout = _blocks_of(heads.c * scale, heads.widths)
        W = (heads.W * math.log2(math.e)).view(d, -1)
        safe, found = self._logits_are_below(heads), []
        for now in self._chunks(n, len(heads.c), T):
            sums, weighted = self._sums(self.X[now], self.q[now], heads.U, W, safe)
            found.append(self.sigma(weighted[:, -1] / sums[:, -1]) @ readout)
        return torch.cat(found)

    def losses(self, heads: Heads) -> Tensor:
        """Loss of each student, without its gradient.

        Args:
            heads: the students' heads.

        Returns:
            Float[Tensor, "s"].

        Raises:
            ValueError: heads that do not fit the data.
        """
        return (self.outputs(heads) - self.y).square().mean(0)

    def _fits(self, heads: Heads) -> None:
        d, s = self.X.shape[2], len(heads.widths)
        if heads.U.shape[0] != d:
            raise ValueError(f"heads must have the tokens' dimension d = {d}, got {heads.U.shape[0]}")
        if self.y.shape[1] not in (1, s):
            raise ValueError(f"heads must be of {self.y.shape[1]} students, as y has columns, got {s}")
        arguments.same_kind("X", self.X, heads=heads.W)

    def _logits_are_below(self, heads: Heads) -> bool:
        """Whether no logit ⟨X_t, W_i q⟩ can overflow when it is exponentiated: |⟨X_t, W_i q⟩| ≤ ‖W_i‖_F."""
        return bool(torch.linalg.vector_norm(heads.W, dim=(0, 1)).max() <= self._limit)

    def _chunks(self, n: int, M: int, T: int) -> list[slice]:
        """Samples in chunks of nearly equal size, so that buffers and compiled code are used again."""
        budget = IN_CACHE if self.X.device.type == "cpu" else ELSEWHERE
        chunk = self.chunk or max(1, budget // (self.X.element_size() * M * T))
        size = math.ceil(n / math.ceil(n / chunk))
        return [slice(start, min(start + size, n)) for start in range(0, n, size)]

    def _sums(self, X: Tensor, q: Tensor, U: Tensor, W: Tensor, safe: bool) -> tuple[Tensor, Tensor]:
        """Σ_t e_t (X_t, 1) and Σ_t e_t s_t (X_t, 1) of every sample and head, each Float[Tensor, "b d+1 M"]."""
        (b, T, d), M = X.shape, U.shape[1]
        if (room := self._room.get((b, M))) is None:
            # Two sizes are alive at a time: that of the chunks, and what is left for the last one.
            if len(self._room) > 1:
                self._room.clear()
            room = self._room[b, M] = _Room(X, b, T, d, M)
        keys = torch.mm(q, W, out=room.keys).view(b, d, M)
        e = torch.bmm(X, keys, out=room.e)
        if not safe:
            e -= e.amax(1, keepdim=True)
        e.exp2_()
        s = torch.mm(X.reshape(b * T, d), U, out=room.s.view(b * T, M)).view(b, T, M)
        room.tokens[:, :d] = X.mT
        return torch.bmm(room.tokens, e, out=room.sums), torch.bmm(room.tokens, s.mul_(e), out=room.weighted)


class _Room:
    """Buffers of one chunk: fresh memory for each would cost as much time as the arithmetic."""

    def __init__(self, X: Tensor, b: int, T: int, d: int, M: int) -> None:
        self.keys = X.new_empty(b, d * M)
        self.e, self.s = X.new_empty(b, T, M), X.new_empty(b, T, M)
        self.tokens = X.new_ones(b, d + 1, T)
        self.sums, self.weighted = X.new_empty(b, d + 1, M), X.new_empty(b, d + 1, M)


def _owners(heads: Heads) -> Tensor:
    """Which student each head belongs to, Int[Tensor, "M"]."""
    widths = torch.tensor(heads.widths, device=heads.c.device)
    return torch.repeat_interleave(torch.arange(len(widths), device=heads.c.device), widths)


def _blocks_of(values: Tensor, widths: Sequence[int]) -> Tensor:
    """The values of every student's heads in a column of its own, Float[Tensor, "M s"]."""
    return torch.block_diag(*(part[:, None] for part in values.split(list(widths))))


def _from_sums(sums, weighted, c, readout, owner, y, factor, sigma, slope):
    """From sums over tokens to Σ_j residual², and to the gradients' parts (without m^{−1/2} in that of c); overwrites the sums."""
    norm = sums[:, -1].reciprocal()
    z = weighted[:, -1] * norm
    h = sigma(z)
    residual = h @ readout - y
    pull = factor * residual
    pull = pull.expand(-1, len(c)) if readout.shape[1] == 1 else pull[:, owner]
    weight = slope(z) * c * pull * norm
    along_U = sums[:, :-1].mul_(weight[:, None])
    along_W = weighted[:, :-1].mul_(weight[:, None]).addcmul_(along_U, z[:, None], value=-1)
    return residual.square().sum(0), (h * pull).sum(0), along_U.sum(0), along_W
