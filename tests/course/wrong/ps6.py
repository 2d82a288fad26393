"""Likely wrong answers to problem set 6, and the points they lose."""

SLOPES = """
def slopes(X, Z, L, S, G, B, W_V, gamma):
    M = B @ (X @ W_V).mT
    T = {T}
    return [float(({g} * X).sum()), float(({g_f} * Z).sum()), float((T * L).sum(){gamma})]
"""
SLOPES_RIGHT = {"T": "S * (M - (S * M).sum(-1, keepdim=True))", "g": "B", "g_f": "G", "gamma": " / gamma"}

DANGEROUS = """
def dangerous(S, X, W_V):
    found = []
    values = torch.linalg.eigvals({matrix})
    for g in sorted(float(value.real) for value in values if {real}):
        g = {zero}
        if g >= 0 and {once}:
            found.append(g)
    return found
"""
DANGEROUS_RIGHT = {
    "matrix": "-S @ X @ W_V @ torch.linalg.inv(X)",
    "real": "abs(value.imag) <= 1e-6",
    "zero": "0.0 if abs(g) <= 1e-6 else g",
    "once": "(not found or g - found[-1] > 1e-6)",
}

LIMIT = """
def limit(q, weights, means, covariances):
    moved = covariances @ q
    kinds = torch.softmax(weights.log() + {mean} + {square}, 0)
    return kinds @ ({centre})
"""
LIMIT_RIGHT = {"mean": "means @ q", "square": "moved @ q / 2", "centre": "means + moved"}

OVERFLOW = """
def limit(q, weights, means, covariances):
    moved = covariances @ q
    kinds = weights * (means @ q + moved @ q / 2).exp()
    return kinds @ (means + moved) / kinds.sum()
"""

UNTILTED = """
def limit(q, weights, means, covariances):
    return weights @ (means + covariances @ q)
"""

CONDITION = """
def condition(s, lam, omega):
    values, d = [], len(s)
    for i in range(d):
        values += [2 * (s[i] - omega), 4 * lam * (s[i] - omega){diagonal}]
        for j in range(i):
            both = s[i] + s[j] - 2 * omega
            values += [both, {pair}, 2 * lam * both{balance}]
    return max(values) / min(values)


omega_best = {omega_best}
least = {least}
"""
CONDITION_RIGHT = {
    "diagonal": " + 2 * omega",
    "pair": "both + 2 * omega",
    "balance": " + 2 * omega",
    "omega_best": "s[2] / 2",
    "least": "max(s[0] + s[1], 2 * s[0] - s[2]) / s[2]",
}

ONE_HALF = """
def condition(s, lam, omega):
    return max(s) / (min(s) - omega)


omega_best = s[2] / 2
least = max(s[0] + s[1], 2 * s[0] - s[2]) / s[2]
"""

EXTREMES = """
def condition(s, lam, omega):
    high, low = max(s), min(s)
    largest = max(2 * high, 2 * (high - omega), 4 * lam * (high - omega) + 2 * omega)
    return largest / min(2 * (low - omega), 4 * lam * (low - omega) + 2 * omega)


omega_best = s[2] / 2
least = max(s[0] + s[1], 2 * s[0] - s[2]) / s[2]
"""


def of(text: str, right: dict, **wrong: object) -> str:
    """The right answer with a part that is wrong."""
    return text.format(**(right | wrong))


WRONG = {
    "q1": [
        ("G instead of B", 9, of(SLOPES, SLOPES_RIGHT, g="G")),
        ("B instead of G", 9, of(SLOPES, SLOPES_RIGHT, g_f="B")),
        ("the logits' factor stays", 9, of(SLOPES, SLOPES_RIGHT, gamma="")),
        ("not back through the softmax", 9, of(SLOPES, SLOPES_RIGHT, T="M")),
        ("one term of the softmax's Jacobian", 9, of(SLOPES, SLOPES_RIGHT, T="S * M")),
        ("one sequence only", 14, of(SLOPES, SLOPES_RIGHT).replace(".sum())", "[0].sum())").replace("(T * L).sum()", "(T * L)[0].sum()")),
    ],
    "q2": [
        ("the sign", 12, of(DANGEROUS, DANGEROUS_RIGHT, matrix="S @ X @ W_V @ torch.linalg.inv(X)")),
        ("in the wrong order", 8, of(DANGEROUS, DANGEROUS_RIGHT, matrix="-S @ W_V")),
        ("real parts of complex numbers", 8, of(DANGEROUS, DANGEROUS_RIGHT, real="True")),
        ("0 missed by rounding, or not counted", 4, of(DANGEROUS, DANGEROUS_RIGHT, zero="g if g > 1e-6 else -1.0")),
        ("as often as they occur", 4, of(DANGEROUS, DANGEROUS_RIGHT, once="True")),
    ],
    "q3": [
        ("weights of kinds stay as they are", 14, UNTILTED),
        ("only means tilt the weights", 14, of(LIMIT, LIMIT_RIGHT, square="0")),
        ("no one half", 10, of(LIMIT, LIMIT_RIGHT, square="moved @ q")),
        ("only covariances tilt the weights", 14, of(LIMIT, LIMIT_RIGHT, mean="0")),
        ("means of kinds stay as they are", 14, of(LIMIT, LIMIT_RIGHT, centre="means")),
        ("exponentials that overflow", 4, OVERFLOW),
    ],
    "q4": [
        ("the formula for one half", 7, ONE_HALF),
        ("κ", 11, ONE_HALF.replace("(min(s) - omega)", "min(s)")),
        ("decay only moves the minimum", 11, of(CONDITION, CONDITION_RIGHT, diagonal="", pair="both", balance="")),
        ("2 s_1 where only pairs have a sum", 7, EXTREMES),
        ("no error at the minimum: pairs without 2ω", 5, of(CONDITION, CONDITION_RIGHT, pair="both")),
        ("the largest decay", 5, of(CONDITION, CONDITION_RIGHT, omega_best="s[2]", least="math.inf")),
        ("2κ at best, as for wide factors", 3, of(CONDITION, CONDITION_RIGHT, least="2 * s[0] / s[2]")),
    ],
}  # fmt: skip
