"""A layer of independently recurrent tanh units, sample by sample: outputs, and backpropagation through time where they are compared with labels.

All states of a sample lie in the processor's cache when the way back begins. What comes from the tokens, and what goes back to them, are
matrix products outside.
"""

import numpy as np
from numba import njit

from shallowformer.compiled.kept import kept
from shallowformer.compiled.rows import FAST, WIDTH, tanh

_ROW = np.uintp(WIDTH)


@njit(fastmath=FAST | {"reassoc"}, error_model="numpy", forceinline=True)
def _forwards(driven, start, T, stride, w, unit, z, h, slope, whole, power, numbers):
    """Replace what drives a row of units by their states; ``h`` is the last one."""
    at = start
    for t in range(T):
        if t > 0:
            for i in range(_ROW):
                z[i] = driven[at + i] + w[unit + i] * driven[at - stride + i]
        else:
            for i in range(_ROW):
                z[i] = driven[at + i]
        tanh(z, h, slope, whole, power, numbers)
        for i in range(_ROW):
            driven[at + i] = h[i]
        at += stride


@njit(fastmath=FAST | {"reassoc"}, error_model="numpy", forceinline=True)
def _backwards(driven, last, T, stride, w, unit, back, of_w, one):
    """Replace states, from the last on, by what flows back to what drove them."""
    at = last
    for s in range(T):
        for i in range(_ROW):
            back[i] *= one - driven[at + i] * driven[at + i]
        if s + 1 < T:
            for i in range(_ROW):
                of_w[unit + i] += back[i] * driven[at - stride + i]
        for i in range(_ROW):
            driven[at + i] = back[i]
            back[i] *= w[unit + i]
        at -= stride


def _recurrence(
    driven, T, rows, c, w, y, scale, backwards, outputs, of_c, of_w, z, h, slope, back, whole, power, numbers
):
    """Outputs of samples; with ``backwards``, sums of residuals times what is named, and in ``driven`` what flows back to it.

    ``driven`` is U X_t by sample, token and unit, in one row; ``rows`` is the number of units over ``WIDTH``.
    """
    stride = np.uintp(rows) * _ROW
    sample = np.uintp(T) * stride
    for j in range(len(y)):
        start, f = np.uintp(j) * sample, z[0] - z[0]
        for r in range(rows):
            unit = np.uintp(r) * _ROW
            _forwards(driven, start + unit, T, stride, w, unit, z, h, slope, whole, power, numbers)
            for i in range(_ROW):
                f += c[unit + i] * h[i]
        outputs[j] = f * scale
        if backwards:
            residual, last = outputs[j] - y[j], start + sample - stride
            for r in range(rows):
                unit = np.uintp(r) * _ROW
                for i in range(_ROW):
                    of_c[unit + i] += residual * driven[last + unit + i]
                    back[i] = residual * c[unit + i]
                _backwards(driven, last + unit, T, stride, w, unit, back, of_w, numbers.one)


#: By the name of the type.
recurrence = {kind: kept(_recurrence, kind, FAST | {"reassoc"}) for kind in ("float32", "float64")}
