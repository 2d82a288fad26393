"""One-layer softmax attention, Lemma 1 in one loop: outputs, slopes and gradients of some samples, for all heads.

For a few samples at a time, and a vector of heads at a time: logits, exponentials, and the four sums over tokens of which everything is made
(``kernel_regime.model.torch_pass`` says which). When all heads of these samples are done, their residuals are known, and the gradients follow.

Products are blocked so that eight sums are under way at once, which hides the latency of a multiply-add, and that six loads serve eight of
them. Where fewer than four tokens, samples or components are left, the last of them is taken again and what comes out of it is not used.
"""

import numpy as np
from numba import njit

from shallowformer.compiled.kept import kept
from shallowformer.compiled.vectors import FAST, choose, exp2, fill, lanes, load, load_four, store, tanh, together, zeros

#: Tokens at a time: their weights lie in the first cache.
TOKENS = 32

_ZERO, _ONE, _TWO, _THREE, _FOUR, _TOKENS = (np.uintp(k) for k in (0, 1, 2, 3, 4, TOKENS))


@njit(forceinline=True)
def _next(k, count):
    """k and the three after it, below a count."""
    last = count - _ONE
    return k, min(k + _ONE, last), min(k + _TWO, last), min(k + _THREE, last)


@njit(fastmath=FAST, forceinline=True)
def _times_query(q, sample, d, W, w, keys):
    """W q of a sample for a vector of heads."""
    L, zero = lanes(W), zeros(W)
    for a in range(_ZERO, d, _FOUR):
        a0, a1, a2, a3 = _next(a, d)
        w0, w1, w2, w3 = w + a0 * d * L, w + a1 * d * L, w + a2 * d * L, w + a3 * d * L
        k0 = k1 = k2 = k3 = zero
        for b in range(d):
            at, x = b * L, fill(zero, q[sample + b])
            k0, k1 = k0 + load(W, w0 + at) * x, k1 + load(W, w1 + at) * x
            k2, k3 = k2 + load(W, w2 + at) * x, k3 + load(W, w3 + at) * x
        store(keys, a0 * L, k0)
        store(keys, a1 * L, k1)
        store(keys, a2 * L, k2)
        store(keys, a3 * L, k3)


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
        for a in range(d):
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
        a0, a1, a2, a3 = _next(a, d)
        c0, c1, c2, c3 = c + a0 * L, c + a1 * L, c + a2 * L, c + a3 * L
        d0, d1, d2, d3 = dd + a0 * L, dd + a1 * L, dd + a2 * L, dd + a3 * L
        s0, s1, s2, s3 = load(C, c0), load(C, c1), load(C, c2), load(C, c3)
        r0, r1, r2, r3 = load(D, d0), load(D, d1), load(D, d2), load(D, d3)
        for t in range(count):
            at = x0 + t * d
            v, w = load(E, e + t * stride), load(P, p + t * stride)
            n0, n1, n2, n3 = fill(zero, x[at + a0]), fill(zero, x[at + a1]), fill(zero, x[at + a2]), fill(zero, x[at + a3])
            s0, s1, s2, s3 = s0 + v * n0, s1 + v * n1, s2 + v * n2, s3 + v * n3
            r0, r1, r2, r3 = r0 + w * n0, r1 + w * n1, r2 + w * n2, r3 + w * n3
        store(C, c0, s0), store(C, c1, s1), store(C, c2, s2), store(C, c3, s3)
        store(D, d0, r0), store(D, d1, r1), store(D, d2, r2), store(D, d3, r3)


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
    for a in range(d):
        total = load(grad_U, u + a * L)
        for j in range(count):
            at, row = sums + j * block + a * L, j * M + head
            r = load(pull, row)
            of_U = load(A, at) * r
            total += of_U
            store(B, at, load(B, at) * r - of_U * load(z, row))
        store(grad_U, u + a * L, total)
    for a in range(_ZERO, d, _TWO):
        a0, a1, _, _ = _next(a, d)
        _add_products(
            q, sample, d, count, B, sums + a0 * L, B, sums + a1 * L, block, grad_W, w + a0 * block, grad_W, w + a1 * block
        )  # fmt: skip


@njit(fastmath=FAST | {"reassoc"})
def _sum(values, start, count):
    """In whatever order is fastest, always the same."""
    total = values.dtype.type(0)
    for i in range(start, start + count):
        total += values[i]
    return total


@njit(fastmath=FAST | {"reassoc"})
def _inner(a, b, start, low, high):
    """Σ_i a_i b_{start + i} from low to high, likewise."""
    total = a.dtype.type(0)
    for i in range(low, high):
        total += a[i] * b[start + i]
    return total


def _attention(
    X, q, y, c, U, W, dc, dU, dW, starts, sizes, sigma, factor, safe, f, slopes, grad_c, grad_U, grad_W,
    A, B, z, h, g, pull, keys, E, P,
):  # fmt: skip
    """Outputs, slopes and gradients of some samples. Arrays are flat, made of vectors of heads, but for f, y and slopes."""
    first, last, T, d, chunk = sizes[0], sizes[1], sizes[2], sizes[3], sizes[4]
    L, M, students, directions = lanes(X), np.uintp(c.size), np.uintp(starts.size - 1), np.uintp(slopes.shape[1])
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
        for row in range(_ZERO, count * M, _FOUR * L):  # beyond the last sample there is room for four vectors
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
                f[start + j, s] = _inner(c, h, j * M, starts[s], starts[s + _ONE])
        for r in range(directions):
            for head in range(_ZERO, M, L):
                at = r * M + head
                for j in range(_ZERO, count):
                    row, sums = j * M + head, head * chunk * d + j * block
                    _times_query(q, (start + j) * d, d, dW, at * d * d, keys)
                    change, mean = zeros(X), load(z, row)
                    for a in range(_ZERO, block, L):
                        key = load(keys, a)
                        change += load(A, sums + a) * (load(dU, at * d + a) - mean * key) + load(B, sums + a) * key
                    store(pull, row, change * load(g, row) * load(c, head) + load(h, row) * load(dc, at))
            for j in range(count):
                slopes[start + j, r] = _sum(pull, j * M, M)
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
attention = {kind: kept(_attention, kind, FAST) for kind in ("float32", "float64")}
