"""Independent reference implementations: plain loops over samples, heads, tokens and coordinates.

Nothing here uses torch or calls the package. Numbers are Python floats (float64), or complex ones where derivatives are
taken by a complex step. Vectors and matrices are nested lists; a token is a row, X[t][k].
"""

import cmath
import itertools
import math
from collections.abc import Callable, Sequence

Number = float | complex
Vector = Sequence[Number]
Matrix = Sequence[Vector]


def exp(z: Number) -> Number:
    return cmath.exp(z) if isinstance(z, complex) else math.exp(z)


def dot(u: Vector, v: Vector) -> Number:
    total = 0.0
    for a, b in zip(u, v, strict=True):
        total += a * b
    return total


def times(A: Matrix, v: Vector) -> list[Number]:
    return [dot(row, v) for row in A]


# Activations ----------------------------------------------------------------------------------------------------------


def tanh(z: Number) -> Number:
    return cmath.tanh(z) if isinstance(z, complex) else math.tanh(z)


def erf(z: Number) -> Number:
    """Error function; for a complex z by 2/√π · e^{−z²} Σ_k 2^k z^{2k+1} / (2k+1)!!, which does not cancel near the real axis."""
    if not isinstance(z, complex):
        return math.erf(z)
    term, total = z, z
    for k in range(1, 200):
        term *= 2 * z * z / (2 * k + 1)
        total += term
        if abs(term) <= 1e-25 * abs(total):  # and they fall: the first ones rise
            break
    return 2 / math.sqrt(math.pi) * cmath.exp(-z * z) * total


def logistic(z: Number) -> Number:
    if z.real < 0:
        return exp(z) / (1 + exp(z))
    return 1 / (1 + exp(-z))


def sine(z: Number) -> Number:
    return cmath.sin(z) if isinstance(z, complex) else math.sin(z)


ACTIVATIONS = {"tanh": tanh, "erf": erf, "logistic": logistic, "sine": sine}


def derivative(
    function: Callable[[complex], complex], order: int, z: float, radius: float = 0.5, nodes: int = 64
) -> float:
    """The order-th derivative of an analytic function by Cauchy's integral over a circle around z."""
    total = 0.0
    for j in range(nodes):
        angle = 2 * math.pi * j / nodes
        total += (function(z + radius * cmath.exp(1j * angle)) * cmath.exp(-1j * order * angle)).real
    return math.factorial(order) / radius**order * total / nodes


# Softmax calculus -----------------------------------------------------------------------------------------------------


def softmax(z: Vector) -> list[Number]:
    top = max(entry.real for entry in z)
    parts = [exp(entry - top) for entry in z]
    total = sum(parts)
    return [part / total for part in parts]


def jacobian(z: Vector) -> list[list[Number]]:
    """∂α_s/∂z_t = α_s ([s = t] − α_t)."""
    alpha = softmax(z)
    return [[alpha[s] * ((s == t) - alpha[t]) for t in range(len(z))] for s in range(len(z))]


def subset_masses(alpha: Vector) -> list[Number]:
    masses = []
    for k in range(2 ** len(alpha)):
        mass = 0.0
        for t in range(len(alpha)):
            if k // 2**t % 2 == 1:
                mass += alpha[t]
        masses.append(mass)
    return masses


def inf_to_one_norm(A: Matrix) -> float:
    """Max ‖A u‖₁ over ‖u‖_∞ ≤ 1: a convex function, so one of the sign vectors attains it."""
    return max(
        sum(abs(entry) for entry in times(A, u)) for u in itertools.product((-1.0, 1.0), repeat=len(A[0]))
    )


def logits(X: Matrix, W: Matrix, q: Vector) -> list[Number]:
    """⟨X_t, W q⟩ of one sample and one head."""
    return [dot(token, times(W, q)) for token in X]


def mean(X: Matrix, alpha: Vector) -> list[Number]:
    """A = Σ_t α_t X_t."""
    a = [0.0] * len(X[0])
    for weight, token in zip(alpha, X, strict=True):
        for k, entry in enumerate(token):
            a[k] += weight * entry
    return a


def centred(X: Matrix, alpha: Vector) -> list[list[Number]]:
    a = mean(X, alpha)
    return [[entry - a[k] for k, entry in enumerate(token)] for token in X]


def covariance(X: Matrix, alpha: Vector) -> list[list[Number]]:
    """M = Σ_t α_t (X_t − a)(X_t − a)ᵀ."""
    d = len(X[0])
    M = [[0.0] * d for _ in range(d)]
    for weight, Y in zip(alpha, centred(X, alpha), strict=True):
        for i in range(d):
            for j in range(d):
                M[i][j] += weight * Y[i] * Y[j]
    return M


def third_cumulant(X: Matrix, alpha: Vector, U: Vector) -> list[list[Number]]:
    """K_U = Σ_t α_t ⟨U, X_t − a⟩ (X_t − a)(X_t − a)ᵀ."""
    d = len(X[0])
    K = [[0.0] * d for _ in range(d)]
    for weight, Y in zip(alpha, centred(X, alpha), strict=True):
        for i in range(d):
            for j in range(d):
                K[i][j] += weight * dot(U, Y) * Y[i] * Y[j]
    return K


def third_cumulant_form(X: Matrix, alpha: Vector, u: Vector, v: Vector, w: Vector) -> Number:
    total = 0.0
    for weight, Y in zip(alpha, centred(X, alpha), strict=True):
        total += weight * dot(u, Y) * dot(v, Y) * dot(w, Y)
    return total


# The model ------------------------------------------------------------------------------------------------------------


def pooled(X: Matrix, W: Matrix, q: Vector) -> list[Number]:
    """a(X; W_i) of one sample and one head."""
    return mean(X, softmax(logits(X, W, q)))


def hidden(X: Matrix, U: Vector, W: Matrix, q: Vector, sigma: Callable) -> Number:
    """h(X; θ_i) = σ(⟨U_i, a(X; W_i)⟩) of one sample and one head."""
    return sigma(dot(U, pooled(X, W, q)))


def output(X: Matrix, c: Vector, U: Matrix, W: Sequence[Matrix], q: Vector, sigma: Callable) -> Number:
    """f(X; φ) = m^{−1/2} Σ_i c_i σ(⟨U_i, a(X; W_i)⟩) of one sample."""
    total = 0.0
    for i in range(len(c)):
        total += c[i] * hidden(X, U[i], W[i], q, sigma)
    return total / math.sqrt(len(c))


def loss(
    X: Sequence[Matrix], y: Vector, c: Vector, U: Matrix, W: Sequence[Matrix], q: Matrix, sigma: Callable
) -> Number:
    """(1/n) Σ_j (f(X⁽ʲ⁾; φ) − y⁽ʲ⁾)²."""
    total = 0.0
    for j in range(len(X)):
        total += (output(X[j], c, U, W, q[j], sigma) - y[j]) ** 2
    return total / len(X)


# Derivatives in a flat list of parameters, c first, then U, then W, row by row ----------------------------------------


def unpack(phi: Vector, m: int, d: int) -> tuple[list, list, list]:
    """The blocks c [m], U [m][d] and W [m][d][d]."""
    entries = iter(phi)
    c = [next(entries) for _ in range(m)]
    U = [[next(entries) for _ in range(d)] for _ in range(m)]
    W = [[[next(entries) for _ in range(d)] for _ in range(d)] for _ in range(m)]
    return c, U, W


def complex_step(
    function: Callable[[Vector], Number], at: Sequence[float], step: float = 1e-30
) -> list[float]:
    """Gradient by Im f(x + i·step·e_k) / step: no difference is taken, so nothing cancels."""
    gradient = []
    for k in range(len(at)):
        moved = [complex(entry) for entry in at]
        moved[k] += 1j * step
        gradient.append(function(moved).imag / step)
    return gradient
