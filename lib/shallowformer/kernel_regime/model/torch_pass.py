"""A pass over the data in torch: outputs, losses, gradients and directional derivatives of students side by side.

With e_t = exp(logit_t) and s_t = ⟨U, X_t⟩, all that Lemma 1 needs are sums over tokens of e_t, e_t X_t, e_t s_t and e_t s_t X_t: the
first two give a, the third z = ⟨U, a⟩, and the last M U, because M U = Σ_t α_t s_t X_t − z a. Both sums of vectors are matrix products
with the tokens, to which a 1 is appended for the sums of numbers.
"""

import math
from collections.abc import Callable, Iterator, Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from shallowformer.activations import Activation
from shallowformer.kernel_regime.model.students import Students

#: Bytes of logits that a chunk of samples may fill, so that what is worked on stays in cache: CPU, and anything else.
IN_CACHE, ELSEWHERE = 2**20, 2**28


class TorchPass:
    """What ``Loss`` asks of a pass over samples with tokens X, queries q and labels y; not for several threads at a time.

    Logits are exponentiated as they are as long as they cannot overflow; from there on their maximum is subtracted first. ``chunk`` samples
    are worked on at a time; as many as fit in cache if not given.
    """

    def __init__(self, sigma: Activation, dtype: torch.dtype, chunk: int | None = None) -> None:
        self._sigma, self._chunk = sigma, chunk
        self._buffers: dict[tuple, _Buffers] = {}
        # What is left for a sum over tokens, times ‖U‖, above the largest exponential.
        self._limit = 0.65 * math.log(torch.finfo(dtype).max)

    @torch.no_grad()
    def outputs(
        self, students: Students, X: Float[Tensor, "n T d"], q: Float[Tensor, "n d"]
    ) -> Float[Tensor, "n s"]:
        """f(X⁽ʲ⁾; φ) of every sample and student."""
        readout = _readout(students)
        return torch.cat(
            [
                self._sigma(weighted[:, -1] / sums[:, -1]) @ readout
                for _, sums, weighted in self._over_tokens(students, X, q)
            ]
        )

    @torch.no_grad()
    def gradient(
        self,
        students: Students,
        X: Float[Tensor, "n T d"],
        q: Float[Tensor, "n d"],
        y: Float[Tensor, "n _"],
        visit: Callable | None = None,
    ) -> tuple[Float[Tensor, " s"], Students]:
        """Losses and gradients; ``visit`` is shown every chunk's sums over tokens before they are overwritten."""
        n, d, M = len(X), X.shape[2], len(students.c)
        scale, readout = _scale(students), _readout(students)
        owner = students.owner if len(students.widths) > 1 else None
        losses = students.c.new_zeros(len(students.widths))
        grad_c, grad_U = torch.zeros_like(students.c), torch.zeros_like(students.U)
        grad_W = students.W.new_zeros(d, d * M)
        for now, sums, weighted in self._over_tokens(students, X, q):
            if visit is not None:
                visit(now, sums, weighted)
            loss, pulled, left_U, left_W = _from_sums(
                sums,
                weighted,
                students.c * scale,
                readout,
                owner,
                y[now],
                2 / n,
                self._sigma.value,
                self._sigma.first,
            )
            losses += loss / n
            grad_c += pulled
            grad_U += left_U
            grad_W.addmm_(q[now].T, left_W.flatten(1))
        return losses, Students(grad_c * scale, grad_U, grad_W.view(d, d, M), students.widths)

    @torch.no_grad()
    def gradient_and_slopes(
        self,
        student: Students,
        X: Float[Tensor, "n T d"],
        q: Float[Tensor, "n d"],
        y: Float[Tensor, "n 1"],
        directions: Sequence[Students],
    ) -> tuple[Float[Tensor, "1"], Students, Float[Tensor, " n"], Float[Tensor, "k n"]]:
        """Of one student: its loss and gradient, f(X⁽ʲ⁾; φ), and ⟨∇f(X⁽ʲ⁾; φ), δ⟩ for every direction."""
        (m,) = student.widths
        f, along = X.new_empty(len(X)), X.new_empty(len(directions), len(X))

        def visit(now: slice, sums: Tensor, weighted: Tensor) -> None:
            h, slopes = self._slopes(q[now], sums, weighted, directions)
            f[now] = h @ student.c / m**0.5
            for k, delta in enumerate(directions):
                along[k, now] = (h @ delta.c + next(slopes) @ student.c) / m**0.5

        return *self.gradient(student, X, q, y, visit), f, along

    def pairings(
        self, heads: Students, X: Float[Tensor, "n T d"], q: Float[Tensor, "n d"], v: Students
    ) -> Iterator[tuple[slice, Float[Tensor, "b M"]]]:
        """⟨φ(X⁽ʲ⁾), v⟩ of every head, for a few samples at a time, with which these are."""
        for now, sums, weighted in self._over_tokens(heads, X, q):
            h, slopes = self._slopes(q[now], sums, weighted, [v])
            yield now, h * v.c + next(slopes)

    def _slopes(
        self, q: Tensor, sums: Tensor, weighted: Tensor, directions: Sequence[Students]
    ) -> tuple[Float[Tensor, "b M"], Iterator[Float[Tensor, "b M"]]]:
        """h_i and, direction by direction, ⟨∇_θ h_i, δθ_i⟩ of some samples, from sums: the declared exception to ``linear_model.slopes``."""
        d, M = sums.shape[1] - 1, sums.shape[2]
        norm = sums[:, -1].reciprocal()  # 1/Σ_t e_t, "b M"
        z = weighted[:, -1] * norm
        slope = self._sigma.first(z) * norm

        def each() -> Iterator[Tensor]:
            for delta in directions:
                on_query = torch.mm(q, delta.W.view(d, d * M)).view(len(q), d, M)
                # ⟨a, δU⟩ + ⟨MU, δW q⟩, times the norm: left factors as in Lemma 1.
                along = (sums[:, :-1] * torch.addcmul(delta.U, z[:, None], on_query, value=-1)).sum(1)
                along += on_query.mul_(weighted[:, :-1]).sum(1)
                yield along.mul_(slope)

        return self._sigma(z), each()

    def _over_tokens(
        self, students: Students, X: Tensor, q: Tensor
    ) -> Iterator[tuple[slice, Tensor, Tensor]]:
        """Σ_t e_t (X_t, 1) and Σ_t e_t s_t (X_t, 1) of all heads, chunk by chunk, in memory that is used again for the next."""
        d, M = students.U.shape
        # 2^x is far cheaper than e^x where it is vectorised.
        W = (students.W * math.log2(math.e)).view(d, d * M)
        safe = self._logits_are_below(students)
        for now in self._chunks(X, M):
            yield now, *self._sums(X[now], q[now], students.U, W, safe)

    def _logits_are_below(self, students: Students) -> bool:
        """Whether no logit ⟨X_t, W_i q⟩ can overflow when it is exponentiated: |⟨X_t, W_i q⟩| ≤ ‖W_i‖_F."""
        return bool(torch.linalg.vector_norm(students.W, dim=(0, 1)).max() <= self._limit)

    def _chunks(self, X: Tensor, M: int) -> list[slice]:
        """Samples in chunks of nearly equal size, so that buffers and compiled code are used again."""
        n, T, _ = X.shape
        budget = IN_CACHE if X.device.type == "cpu" else ELSEWHERE
        chunk = self._chunk or max(1, budget // (X.element_size() * M * T))
        size = math.ceil(n / math.ceil(n / chunk))
        return [slice(start, min(start + size, n)) for start in range(0, n, size)]

    def _sums(
        self, X: Float[Tensor, "b T d"], q: Tensor, U: Tensor, W: Tensor, safe: bool
    ) -> tuple[Float[Tensor, "b d+1 M"], Float[Tensor, "b d+1 M"]]:
        """Σ_t e_t (X_t, 1) and Σ_t e_t s_t (X_t, 1) of every sample and head."""
        (b, T, d), M = X.shape, U.shape[1]
        if (buffers := self._buffers.get((b, M))) is None:
            # Two sizes are alive at a time: that of the chunks, and what is left for the last one.
            if len(self._buffers) > 1:
                self._buffers.clear()
            buffers = self._buffers[b, M] = _Buffers(X, b, T, d, M)
        keys = torch.mm(q, W, out=buffers.keys).view(b, d, M)  # W_i q
        e = torch.bmm(X, keys, out=buffers.e)  # logits, "b T M"; exponentials from here on
        if not safe:
            e -= e.amax(1, keepdim=True)
        e.exp2_()
        s = torch.mm(X.reshape(b * T, d), U, out=buffers.s.view(b * T, M)).view(b, T, M)
        buffers.tokens[:, :d] = X.mT  # "b d+1 T", whose last row stays 1
        return torch.bmm(buffers.tokens, e, out=buffers.sums), torch.bmm(
            buffers.tokens, s.mul_(e), out=buffers.weighted
        )


class _Buffers:
    """Buffers of one chunk: fresh memory for each would cost as much time as the arithmetic."""

    def __init__(self, X: Tensor, b: int, T: int, d: int, M: int) -> None:
        self.keys = X.new_empty(b, d * M)
        self.e, self.s = X.new_empty(b, T, M), X.new_empty(b, T, M)
        self.tokens = X.new_ones(b, d + 1, T)
        self.sums, self.weighted = X.new_empty(b, d + 1, M), X.new_empty(b, d + 1, M)


def _scale(students: Students) -> Float[Tensor, " M"]:
    """m^{−1/2} of each head's student."""
    return students.spread([m**-0.5 for m in students.widths])


def _readout(students: Students) -> Float[Tensor, "M s"]:
    """m^{−1/2} c of every student's heads in a column of its own."""
    scaled, s = (students.c * _scale(students))[:, None], len(students.widths)
    return scaled if s == 1 else scaled * torch.nn.functional.one_hot(students.owner, s)


def _from_sums(sums, weighted, c, readout, owner, y, factor, sigma, slope):
    """From sums over tokens to Σ_j residual², and to the gradients' parts (without m^{−1/2} in that of c); overwrites the sums."""
    norm = sums[:, -1].reciprocal()  # 1/Σ_t e_t, "b M"
    z = weighted[:, -1] * norm
    h = sigma(z)
    residual = h @ readout - y  # "b s"
    pull = factor * residual
    pull = (
        pull.expand(-1, len(c)) if readout.shape[1] == 1 else pull[:, owner]
    )  # each head's student's, "b M"
    weight = slope(z) * c * pull * norm
    # a and M U = Σ_t α_t s_t X_t − z a, both times the norm and the pull: "b d M"
    along_U = sums[:, :-1].mul_(weight[:, None])
    along_W = weighted[:, :-1].mul_(weight[:, None]).addcmul_(along_U, z[:, None], value=-1)
    return residual.square().sum(0), (h * pull).sum(0), along_U.sum(0), along_W
