"""One-layer softmax attention, Lemma 1 in one loop: outputs, slopes and gradients of some samples, for all heads.

For a few samples at a time, and ``WIDTH`` heads at a time: logits, exponentials, and the four sums over tokens of which everything is made
(``kernel_regime.model.torch_pass`` says which). When all heads of these samples are done, their residuals are known, and the gradients follow.
"""

import numpy as np
from numba import njit

from shallowformer.compiled.kept import kept
from shallowformer.compiled.rows import FAST, WIDTH, clear, exp2, multiply_add, tanh

_ROW, _ROWS4, _FOUR, _ONE, _ZERO = (np.uintp(k) for k in (WIDTH, 4 * WIDTH, 4, 1, 0))


@njit(forceinline=True)
def _queries(q, sample, some, d, four):
    """The queries of four samples; zeros for those that are not there."""
    for i in range(_FOUR * d):
        four[i] = q[sample * d + i] if i < some * d else 0


@njit(fastmath=FAST, forceinline=True)
def _times_queries(four, d, W, tile, keys):
    """W q of four samples for the heads of a tile: rows [k, sample]."""
    clear(keys, _ZERO, _FOUR * d * _ROW)
    for a in range(d):
        for b in range(_ZERO, d, _FOUR):
            multiply_add(four, b, d, _ONE, W, tile + (a * d + b) * _ROW, keys, a * _ROWS4)


@njit(fastmath=FAST, forceinline=True)
def _largest_logits(X, sample, tokens, d, own, E, shift):
    """The largest logit over the tokens of a sample, head by head."""
    for t in range(_ZERO, tokens, _FOUR):
        clear(E, _ZERO, _ROWS4)
        for a in range(_ZERO, d, _FOUR):
            multiply_add(X, sample + t * d + a, d, _ONE, own, a * _ROW, E, _ZERO)
        for b in range(min(_FOUR, tokens - t)):
            for i in range(_ROW):
                shift[i] = E[i] if t + b == 0 else max(shift[i], E[b * _ROW + i])


@njit(fastmath=FAST, forceinline=True)
def _add_four(rows, total):
    for i in range(_ROW):
        total[i] += (rows[i] + rows[_ROW + i]) + (rows[2 * _ROW + i] + rows[3 * _ROW + i])


@njit(fastmath=FAST, forceinline=True)
def _over_tokens(
    X, sample, tokens, T, d, own, U, u, safe, shift, A, B, sums, S0, S1, E, Q, whole, power, numbers
):
    """Σ_t e_t, Σ_t e_t ⟨U, X_t⟩, Σ_t e_t X_t and Σ_t e_t ⟨U, X_t⟩ X_t of a sample, with e_t = 2^logit, in S0, S1, A, B."""
    clear(S0, _ZERO, _ROW)
    clear(S1, _ZERO, _ROW)
    clear(A, sums, d * _ROW)
    clear(B, sums, d * _ROW)
    for t in range(_ZERO, T, _FOUR):
        at = sample + t * d
        clear(E, _ZERO, _ROWS4)
        clear(Q, _ZERO, _ROWS4)
        for a in range(_ZERO, d, _FOUR):
            multiply_add(X, at + a, d, _ONE, own, a * _ROW, E, _ZERO)
            multiply_add(X, at + a, d, _ONE, U, u + a * _ROW, Q, _ZERO)
        if not safe:
            for b in range(_FOUR):
                for i in range(_ROW):
                    E[b * _ROW + i] -= shift[i]
        exp2(E, _ROWS4, whole, power, numbers)
        if t + _FOUR > tokens:  # what T was filled up with
            for i in range((tokens - t) * _ROW, _ROWS4):
                E[i] = 0
        for i in range(_ROWS4):
            Q[i] *= E[i]
        _add_four(E, S0)
        _add_four(Q, S1)
        for a in range(_ZERO, d, _FOUR):
            multiply_add(X, at + a, _ONE, d, E, _ZERO, A, sums + a * _ROW)
            multiply_add(X, at + a, _ONE, d, Q, _ZERO, B, sums + a * _ROW)


@njit(fastmath=FAST, forceinline=True)
def _change(A, B, sums, z, g, row, dU, u, keys, own, d, S, change):
    """What δU and δW change in the outputs of the heads, for a readout of 1: ⟨a, δU⟩ + ⟨MU, δW q⟩ times σ′."""
    clear(S, _ZERO, _ROW)
    for a in range(d):
        to, on_query, of = u + a * _ROW, own + a * _ROWS4, sums + a * _ROW
        for i in range(_ROW):
            change[i] = dU[to + i] - z[row + i] * keys[on_query + i]
        for i in range(_ROW):
            S[i] += A[of + i] * change[i] + B[of + i] * keys[on_query + i]
    for i in range(_ROW):
        change[i] = S[i] * g[row + i]


@njit(fastmath=FAST, forceinline=True)
def _pull_back(A, B, sums, z, row, pull, d, grad_U, u, keys, own, E, centre):
    """Add a sample's part to the gradient in U, and make what its query is to be multiplied with for W."""
    for i in range(_ROW):
        centre[i] = z[row + i]
    for a in range(d):
        of, to, left = sums + a * _ROW, u + a * _ROW, own + a * _ROWS4
        for i in range(_ROW):
            E[i] = A[of + i] * pull[i]
        for i in range(_ROW):
            grad_U[to + i] += E[i]
        for i in range(_ROW):
            keys[left + i] = B[of + i] * pull[i] - E[i] * centre[i]


@njit(fastmath=FAST | {"reassoc"})
def _total(values, low, high):
    """A sum in whatever order is fastest, always the same."""
    total = values[low] - values[low]
    for i in range(low, high):
        total += values[i]
    return total


def _attention(
    X, q, y, c, U, W, dc, dU, dW, starts, sizes, numbers, sigma, factor, safe, f, slopes, grad_c, grad_U, grad_W,
    whole, power, A, B, z, h, g, keys, own,
):  # fmt: skip
    """Outputs, slopes and gradients of some samples. Arrays are flat, made of rows of ``WIDTH`` heads, but for f, y and slopes."""
    first, last, tokens, T, d, chunk = sizes[0], sizes[1], sizes[2], sizes[3], sizes[4], sizes[5]
    kappa, offset, height = sigma
    tiles, students, directions = np.uintp(c.size) // _ROW, starts.size - 1, slopes.shape[1]
    block = d * _ROW
    E, Q = np.empty_like(power), np.empty_like(power)
    S0, S1, rise = np.empty_like(own[:WIDTH]), np.empty_like(own[:WIDTH]), np.empty_like(own[:WIDTH])
    shift, pull, four = np.zeros(WIDTH, X.dtype), np.zeros(WIDTH, X.dtype), np.empty(4 * d, X.dtype)
    for start in range(first, last, chunk):
        count = min(chunk, last - start)
        for j in range(start, start + count):
            for s in range(students):
                f[j, s] = 0
            for r in range(directions):
                slopes[j, r] = 0
        for tile in range(tiles):
            c0 = tile * _ROW
            for j in range(_ZERO, count, _FOUR):
                some = min(_FOUR, count - j)
                _queries(q, start + j, some, d, four)
                _times_queries(four, d, W, tile * d * block, keys)
                for k in range(some):
                    row, sums = ((j + k) * tiles + tile) * _ROW, ((j + k) * tiles + tile) * block
                    for a in range(d):
                        for i in range(_ROW):
                            own[a * _ROW + i] = keys[a * _ROWS4 + k * _ROW + i]
                    sample = (start + j + k) * T * d
                    if not safe:
                        _largest_logits(X, sample, tokens, d, own, E, shift)
                    _over_tokens(
                        X, sample, tokens, T, d, own, U, tile * block, safe, shift,
                        A, B, sums, S0, S1, E, Q, whole, power, numbers,
                    )  # fmt: skip
                    for i in range(_ROW):
                        S0[i] = numbers.one / S0[i]
                    for i in range(_ROW):
                        S1[i] *= S0[i]
                        z[row + i] = S1[i]
                        S1[i] *= kappa
                    tanh(S1, Q, rise, whole, power, numbers)
                    for i in range(_ROW):
                        Q[i] = offset + height * Q[i]
                        h[row + i] = Q[i]
                    for i in range(_ROW):
                        g[row + i] = kappa * height * rise[i] * S0[i] * c[c0 + i]
                    for i in range(_ROW):
                        Q[i] *= c[c0 + i]
                    for s in range(students):
                        low, high = max(starts[s], c0), min(starts[s + 1], c0 + _ROW)
                        if low < high:
                            f[start + j + k, s] += _total(Q, low - c0, high - c0)
                for r in range(directions):
                    _times_queries(four, d, dW, (r * tiles + tile) * d * block, keys)
                    for k in range(some):
                        row, sums = ((j + k) * tiles + tile) * _ROW, ((j + k) * tiles + tile) * block
                        _change(
                            A, B, sums, z, g, row, dU, (r * tiles + tile) * block, keys, k * _ROW, d, S0, Q
                        )  # fmt: skip
                        for i in range(_ROW):
                            Q[i] += h[row + i] * dc[r * tiles * _ROW + c0 + i]
                        slopes[start + j + k, r] += _total(Q, _ZERO, _ROW)
        if grad_c.size == 0:
            continue
        for tile in range(tiles):
            c0 = tile * _ROW
            for j in range(_ZERO, count, _FOUR):
                some = min(_FOUR, count - j)
                _queries(q, start + j, some, d, four)
                if some < _FOUR:
                    clear(keys, _ZERO, _FOUR * block)
                for k in range(some):
                    row, sums = ((j + k) * tiles + tile) * _ROW, ((j + k) * tiles + tile) * block
                    for s in range(students):
                        residual = factor * (f[start + j + k, s] - y[start + j + k, s])
                        for i in range(max(starts[s], c0), min(starts[s + 1], c0 + _ROW)):
                            pull[i - c0] = residual
                    for i in range(_ROW):
                        grad_c[c0 + i] += pull[i] * h[row + i]
                    for i in range(_ROW):
                        pull[i] *= g[row + i]
                    _pull_back(A, B, sums, z, row, pull, d, grad_U, tile * block, keys, k * _ROW, E, S1)
                for a in range(d):
                    for b in range(_ZERO, d, _FOUR):
                        multiply_add(
                            four, b, _ONE, d, keys, a * _ROWS4, grad_W, (tile * d + a) * block + b * _ROW
                        )


#: By the name of the type.
attention = {kind: kept(_attention, kind, FAST) for kind in ("float32", "float64")}
