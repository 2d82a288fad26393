"""The residual Transformer in plain loops over sequences, tokens and coordinates; floats, or complex numbers for derivatives by a complex step.

Matrices are nested lists, θ a list of six of them. Nothing here uses torch or calls the package.
"""

import cmath
import math

from reference import Matrix, Number, dot, erf, softmax


def phi(x: Number, tau: float) -> Number:
    """E relu(x + τg) − τ/√(2π), by the error function."""
    if tau == 0:
        return x if x.real > 0 else 0.0 * x
    z = x / tau
    power = cmath.exp if isinstance(x, complex) else math.exp
    return x * (1 + erf(z / math.sqrt(2))) / 2 + tau / math.sqrt(2 * math.pi) * (power(-z * z / 2) - 1)


def slope(x: float, tau: float) -> float:
    if tau == 0:
        return 1.0 if x > 0 else 0.0
    return (1 + math.erf(x / tau / math.sqrt(2))) / 2


def column(W: Matrix, k: int) -> list[Number]:
    return [row[k] for row in W]


def through(x: list[Number], W: Matrix) -> list[Number]:
    """Row x times W."""
    return [dot(x, column(W, k)) for k in range(len(W[0]))]


def forward(
    X: Matrix, theta: list[Matrix], g: float, g_f: float, tau: float, temperature: float
) -> list[dict]:
    """What every token of one sequence computes: s, z, a, h, f."""
    W_Q, W_K, W_V, W_1, W_2, W_U = theta
    tokens = []
    for x in X:
        q = through(x, W_Q)
        s = softmax([dot(q, through(other, W_K)) / temperature for other in X])
        z = [g * entry for entry in x]
        for weight, other in zip(s, X, strict=True):
            for k, entry in enumerate(through(other, W_V)):
                z[k] += weight * entry
        pre = through(z, W_1)
        a = [phi(entry, tau) for entry in pre]
        h = [g_f * entry + more for entry, more in zip(z, through(a, W_2), strict=True)]
        tokens.append({"s": s, "z": z, "pre": pre, "a": a, "h": h, "f": through(h, W_U)})
    return tokens


def loss(
    X: list, Y: list, theta: list[Matrix], g: float, g_f: float, tau: float, temperature: float
) -> Number:
    total = 0.0
    for one, wanted in zip(X, Y, strict=True):
        for token, y in zip(forward(one, theta, g, g_f, tau, temperature), wanted, strict=True):
            for entry, label in zip(token["f"], y, strict=True):
                total += (entry - label) ** 2 / 2
    return total


def zeros(like: Matrix) -> list[list[float]]:
    return [[0.0] * len(like[0]) for _ in like]


def add(total: Matrix, u: list[float], v: list[float], scale: float = 1.0) -> None:
    """Total += scale · u vᵀ."""
    for i, left in enumerate(u):
        for j, right in enumerate(v):
            total[i][j] += scale * left * right


def gradients(
    X: list, Y: list, theta: list[Matrix], g: float, g_f: float, tau: float, temperature: float
) -> list:
    """Token by token, with the Jacobian of every softmax written out."""
    W_Q, W_K, W_V, W_1, W_2, W_U = theta
    of_Q, of_K, of_V, of_1, of_2, of_U = total = [zeros(W) for W in theta]
    for one, wanted in zip(X, Y, strict=True):
        for x, y, token in zip(one, wanted, forward(one, theta, g, g_f, tau, temperature), strict=True):
            e = [entry - label for entry, label in zip(token["f"], y, strict=True)]
            by_h = [dot(row, e) for row in W_U]
            by_pre = [slope(p, tau) * dot(row, by_h) for p, row in zip(token["pre"], W_2, strict=True)]
            by_z = [g_f * h + dot(row, by_pre) for h, row in zip(by_h, W_1, strict=True)]
            add(of_U, token["h"], e)
            add(of_2, token["a"], by_h)
            add(of_1, token["z"], by_pre)
            by_s = [dot(through(other, W_V), by_z) for other in one]
            s = token["s"]
            for i, other in enumerate(one):
                add(of_V, other, by_z, s[i])
                by_logit = sum(s[j] * ((i == j) - s[i]) * by_s[j] for j in range(len(s)))
                add(of_Q, x, through(other, W_K), by_logit / temperature)
                add(of_K, other, through(x, W_Q), by_logit / temperature)
    return total


def unpack(entries: list[Number], like: list[Matrix]) -> list[Matrix]:
    """A flat list as six matrices of given shapes."""
    rest = iter(entries)
    return [[[next(rest) for _ in row] for row in W] for W in like]
