"""A layer of independently recurrent tanh units, sample by sample: outputs, and backpropagation through time where they are compared with labels.

All states of a sample lie in the processor's cache when the way back begins. What comes from the tokens, and what goes back to them, are
matrix products outside.
"""

import numpy as np
from numba import njit

from shallowformer.compiled.kept import kept
from shallowformer.compiled.vectors import FAST, fill, inner, lanes, load_four, store, tanh

#: Units are a multiple of so many: four registers of float32, where these are largest.
WIDTH = 64

_ZERO, _FOUR = np.uintp(0), np.uintp(4)


@njit(fastmath=FAST, forceinline=True)
def _forwards(driven, start, T, M, w):
    """Replace what drives the units by their states."""
    for t in range(T):
        at = start + t * M
        for i in range(_ZERO, M, _FOUR * lanes(w)):
            z = load_four(driven, at + i)
            if t > _ZERO:
                z += load_four(w, i) * load_four(driven, at + i - M)
            h, _ = tanh(z)
            store(driven, at + i, h)


@njit(fastmath=FAST, forceinline=True)
def _backwards(driven, start, T, M, w, back, of_w):
    """Replace states, from the last on, by what flows back to what drove them."""
    for t in range(T):
        at = start + (T - t) * M - M
        for i in range(_ZERO, M, _FOUR * lanes(w)):
            state = load_four(driven, at + i)
            flow = load_four(back, i) * (fill(state, w.dtype.type(1)) - state * state)
            if at > start:
                store(of_w, i, load_four(of_w, i) + flow * load_four(driven, at + i - M))
            store(driven, at + i, flow)
            store(back, i, flow * load_four(w, i))


def _recurrence(driven, T, c, w, y, scale, backwards, outputs, of_c, of_w, back):
    """Outputs of samples; with ``backwards``, sums of residuals times what is named, and in ``driven`` what flows back to it.

    ``driven`` is U X_t by sample, token and unit, in one row.
    """
    M, T = np.uintp(c.size), np.uintp(T)
    for j in range(np.uintp(y.size)):
        start = j * T * M
        last = start + T * M - M
        _forwards(driven, start, T, M, w)
        outputs[j] = inner(c, driven, last, _ZERO, M) * scale
        if backwards:
            residual = outputs[j] - y[j]
            for i in range(M):
                of_c[i] += residual * driven[last + i]
                back[i] = residual * c[i]
            _backwards(driven, start, T, M, w, back, of_w)


#: By the name of the type.
recurrence = {kind: kept(_recurrence, kind) for kind in ("float32", "float64")}
