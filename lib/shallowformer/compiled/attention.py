"""One-layer softmax attention, Lemma 1 in one loop: outputs, slopes and gradients of some samples, for all heads.

For a few samples at a time, and a vector of heads at a time: logits, exponentials, and the four sums over tokens of which everything is made
(``kernel_regime.model.torch_pass`` says which). When all heads of these samples are done, their residuals are known, and the gradients follow.

Products are blocked so that eight sums are under way at once, which hides the latency of a multiply-add, and that six loads serve eight of
them. Where fewer than four tokens, samples or components are left, the last of them is taken again and what comes out of it is not used.
"""

import numpy as np
from numba import njit

from shallowformer.compiled.kept import kept
from shallowformer.compiled.vectors import (
    FAST,
    choose,
    exp2,
    fill,
    inner,
    lanes,
    load,
    load_four,
    store,
    tanh,
    together,
    total,
    zeros,
)

#: Tokens at a time: their weights lie in the first cache.
TOKENS = 32

_ZERO, _ONE, _TWO, _THREE, _FOUR, _TOKENS = (np.uintp(k) for k in (0, 1, 2, 3, 4, TOKENS))


@njit(forceinline=True)
def _next(k, count):
    """An index and the three after it, below a count."""
    last = count - _ONE
    return k, min(k + _ONE, last), min(k + _TWO, last), min(k + _THREE, last)


@njit(fastmath=FAST, forceinline=True)
def _times_query(q, sample, d, W, w, keys):
    """W q of a sample for a vector of heads."""
    L = lanes(W)
    row = d * L
    for a in range(_ZERO, row, _FOUR * L):
        at = w + a * d
        k0 = k1 = k2 = k3 = zeros(W)
        for b in range(_ZERO, d, _FOUR):
            for i in range(_FOUR):
                x = fill(k0, q[sample + b + i])
                k0, k1 = k0 + load(W, at) * x, k1 + load(W, at + row) * x
                k2, k3 = k2 + load(W, at + _TWO * row) * x, k3 + load(W, at + _THREE * row) * x
                at += L
        (
            store(keys, a, k0),
            store(keys, a + L, k1),
            store(keys, a + _TWO * L, k2),
            store(keys, a + _THREE * L, k3),
        )


@njit(fastmath=FAST, forceinline=True)
def _largest_logits(X, sample, T, d, keys):
    """The largest logit over the tokens of a sample, head by head."""
    L = lanes(X)
    largest = zeros(X)
    for t in range(_ZERO, T):
        logit = zeros(X)
        for a in range(d):
            logit += load(keys, a * L) * fill(logit, X[sample + t * d + a])
        largest = choose(largest, logit, logit, largest) if t > _ZERO else logit
    return largest


@njit(fastmath=FAST, forceinline=True)
def _logits(X, sample, count, d, keys, U, u, shift, E, P):
    """Logits less the shift, and ⟨U, X_t⟩, of some tokens."""
    L, zero = lanes(X), zeros(X)
    for t in range(_ZERO, count, _FOUR):
        t0, t1, t2, t3 = _next(t, count)
        t0, t1, t2, t3 = sample + t0 * d, sample + t1 * d, sample + t2 * d, sample + t3 * d
        e0 = e1 = e2 = e3 = zero - shift
        p0 = p1 = p2 = p3 = zero
        for b in range(_ZERO, d, _FOUR):
            for a in range(b, b + _FOUR):
                key, value = load(keys, a * L), load(U, u + a * L)
                x0, x1 = fill(zero, X[t0 + a]), fill(zero, X[t1 + a])
                x2, x3 = fill(zero, X[t2 + a]), fill(zero, X[t3 + a])
                e0, e1, e2, e3 = e0 + key * x0, e1 + key * x1, e2 + key * x2, e3 + key * x3
                p0, p1, p2, p3 = p0 + value * x0, p1 + value * x1, p2 + value * x2, p3 + value * x3
        at = t * L
        store(E, at, e0), store(E, at + L, e1), store(E, at + _TWO * L, e2), store(E, at + _THREE * L, e3)
        store(P, at, p0), store(P, at + L, p1), store(P, at + _TWO * L, p2), store(P, at + _THREE * L, p3)


@njit(fastmath=FAST, forceinline=True)
def _add_products(x, x0, d, count, E, e, P, p, stride, C, c, D, dd):
    """C[a] += Σ_t E[t] x[t, a], and D[a] += Σ_t P[t] x[t, a]: vectors from indices e, p, c and dd on, numbers from x0 on."""
    L, zero = lanes(x), zeros(x)
    for a in range(_ZERO, d, _FOUR):
        s0, s1, s2, s3 = load(C, c), load(C, c + L), load(C, c + _TWO * L), load(C, c + _THREE * L)
        r0, r1, r2, r3 = load(D, dd), load(D, dd + L), load(D, dd + _TWO * L), load(D, dd + _THREE * L)
        at = x0 + a
        for t in range(_ZERO, count * stride, stride):
            v, w = load(E, e + t), load(P, p + t)
            n0, n1, n2, n3 = (
                fill(zero, x[at]),
                fill(zero, x[at + _ONE]),
                fill(zero, x[at + _TWO]),
                fill(zero, x[at + _THREE]),
            )
            s0, s1, s2, s3 = s0 + v * n0, s1 + v * n1, s2 + v * n2, s3 + v * n3
            r0, r1, r2, r3 = r0 + w * n0, r1 + w * n1, r2 + w * n2, r3 + w * n3
            at += d
        store(C, c, s0), store(C, c + L, s1), store(C, c + _TWO * L, s2), store(C, c + _THREE * L, s3)
        store(D, dd, r0), store(D, dd + L, r1), store(D, dd + _TWO * L, r2), store(D, dd + _THREE * L, r3)
        c, dd = c + _FOUR * L, dd + _FOUR * L


@njit(fastmath=FAST, forceinline=True)
def _over_tokens(X, sample, T, d, keys, U, u, shift, A, B, sums, E, P):
    """Σ_t e_t and Σ_t e_t ⟨U, X_t⟩ of a sample, with e_t = 2^(logit − shift); Σ_t e_t X_t and Σ_t e_t ⟨U, X_t⟩ X_t in A and B."""
    L, zero = lanes(X), zeros(X)
    for at in range(sums, sums + d * L, L):
        store(A, at, zero)
        store(B, at, zero)
    S0 = S1 = zero
    for begin in range(_ZERO, T, _TOKENS):
        count, start = min(_TOKENS, T - begin), sample + begin * d
        _logits(X, start, count, d, keys, U, u, shift, E, P)
        for t in range(_ZERO, count, _FOUR):
            at = t * L
            e = exp2(load_four(E, at))
            p = e * load_four(P, at)
            store(E, at, e)
            store(P, at, p)
            if count - t >= _FOUR:
                S0, S1 = S0 + together(e), S1 + together(p)
            else:
                for k in range(at, count * L, L):
                    S0, S1 = S0 + load(E, k), S1 + load(P, k)
        _add_products(X, start, d, count, E, _ZERO, P, _ZERO, L, A, sums, B, sums)
    return S0, S1


@njit(fastmath=FAST, forceinline=True)
def _pull_back(q, sample, count, d, A, B, sums, z, pull, head, M, grad_U, u, grad_W, w):
    """Add to the gradients in U and W, for a vector of heads, what the samples of a chunk pull at."""
    L = lanes(q)
    block = d * L
    for j in range(count):
        row, at = j * M + head, sums + j * block
        r, mean = load(pull, row), load(z, row)
        for to in range(u, u + block, L):
            of_U = load(A, at) * r
            store(grad_U, to, load(grad_U, to) + of_U)
            store(B, at, load(B, at) * r - of_U * mean)
            at += L
    for a in range(_ZERO, d, _TWO):
        first, to = sums + a * L, w + a * block
        _add_products(q, sample, d, count, B, first, B, first + L, block, grad_W, to, grad_W, to + block)


def _attention(
    X, q, y, c, U, W, dc, dU, dW, starts, sizes, sigma, factor, safe, f, slopes, grad_c, grad_U, grad_W,
    A, B, z, h, g, pull, keys, E, P,
):  # fmt: skip
    """Outputs, slopes and gradients of some samples. Arrays are flat, made of vectors of heads, but for f, y and slopes."""
    first, last, T, d, chunk = sizes[0], sizes[1], sizes[2], sizes[3], sizes[4]
    L, M, students, directions = (
        lanes(X),
        np.uintp(c.size),
        np.uintp(starts.size - 1),
        np.uintp(slopes.shape[1]),
    )
    block = d * L
    for start in range(first, last, chunk):
        count = min(chunk, last - start)
        for head in range(_ZERO, M, L):
            for j in range(_ZERO, count):
                sample, row = start + j, j * M + head
                _times_query(q, sample * d, d, W, head * d * d, keys)
                shift = zeros(X) if safe else _largest_logits(X, sample * T * d, T, d, keys)
                S0, S1 = _over_tokens(
                    X, sample * T * d, T, d, keys, U, head * d, shift, A, B, head * chunk * d + j * block, E, P
                )  # fmt: skip
                store(g, row, S0)
                store(z, row, S1)
        for row in range(
            _ZERO, count * M, _FOUR * L
        ):  # beyond the last sample there is room for four vectors
            S = load_four(g, row)
            kappa, one = fill(S, sigma[0]), fill(S, X.dtype.type(1))
            inverse = one / S
            mean = load_four(z, row) * inverse
            t, rise = tanh(kappa * mean)
            store(z, row, mean)
            store(h, row, fill(S, sigma[1]) + fill(S, sigma[2]) * t)
            store(g, row, kappa * fill(S, sigma[2]) * rise * inverse)
        for j in range(count):
            for s in range(students):
                f[start + j, s] = inner(c, h, j * M, starts[s], starts[s + _ONE])
        for r in range(directions):
            for head in range(_ZERO, M, L):
                at = r * M + head
                for j in range(_ZERO, count):
                    row, sums = j * M + head, head * chunk * d + j * block
                    _times_query(q, (start + j) * d, d, dW, at * d * d, keys)
                    change, mean = zeros(X), load(z, row)
                    for a in range(_ZERO, block, L):
                        key = load(keys, a)
                        change += (
                            load(A, sums + a) * (load(dU, at * d + a) - mean * key) + load(B, sums + a) * key
                        )
                    store(pull, row, change * load(g, row) * load(c, head) + load(h, row) * load(dc, at))
            for j in range(count):
                slopes[start + j, r] = total(pull, j * M, M)
        if grad_c.size == 0:
            continue
        for j in range(count):
            row = j * M
            for s in range(students):
                residual = factor * (f[start + j, s] - y[start + j, s])
                for i in range(starts[s], starts[s + _ONE]):
                    grad_c[i] += residual * h[row + i]
                    pull[row + i] = residual * c[i] * g[row + i]
        for head in range(_ZERO, M, L):
            _pull_back(
                q, start * d, count, d, A, B, head * chunk * d, z, pull, head, M, grad_U, head * d, grad_W, head * d * d
            )  # fmt: skip


#: By the name of the type.
attention = {kind: kept(_attention, kind) for kind in ("float32", "float64")}
