"""Stein's lemma as an algorithm: the mean of a polynomial in softmax moments is that of a polynomial in the P_k alone (d = 1).

S_{a,k} = Σ_j p_j^a x_j^k, so P_a = S_{a,0}. A monomial is a sorted tuple of pairs (a, k); the polynomial, a mapping from monomials to numbers.
Tokens are N(0, 1), scores ρx_j. Coefficients do not depend on the number of tokens.
"""

from collections.abc import Mapping

Monomial = tuple[tuple[int, int], ...]


def reduced(f: Mapping[Monomial, float], rho: float) -> dict[Monomial, float]:
    """The polynomial in the P_k with the same mean as f, in which a ≥ 1 and k ≥ 0. Returns: pairs (a, 0) with a ≥ 2; the empty one is 1."""
    waiting, done = {}, {}
    for monomial, c in f.items():
        if any(a < 1 or k < 0 for a, k in monomial):
            raise ValueError(f"f must consist of pairs (a, k) with a ≥ 1 and k ≥ 0, got {monomial}")
        _add(waiting, monomial, c)
    while waiting:
        monomial, c = waiting.popitem()
        moving = [factor for factor in monomial if factor[1]]
        if not moving:
            _add(done, monomial, c)
            continue
        first = moving[0]
        rest = list(monomial)
        rest.remove(first)
        for term, factor in _step(first, rest, rho):
            _add(waiting, term, c * factor)
    return {monomial: c for monomial, c in done.items() if c}


def _step(first: tuple[int, int], rest: list[tuple[int, int]], rho: float) -> list[tuple[tuple, float]]:
    """E S_{a,k+1} G = E[k S_{a,k−1} G + aρ(S_{a,k} − S_{a+1,k}) G + Σ_j p_j^a x_j^k ∂_j G]."""
    a, k = first[0], first[1] - 1
    terms = [((a, k), a * rho), ((a + 1, k), -a * rho)]
    if k:
        terms.append(((a, k - 1), float(k)))
    found = [((*rest, one), c) for one, c in terms]
    for place, (b, m) in enumerate(rest):
        others = rest[:place] + rest[place + 1 :]
        if m:
            found.append(((*others, (a + b, k + m - 1)), float(m)))
        found.append(((*others, (a + b, k + m)), b * rho))
        found.append(((*others, (a + 1, k), (b, m)), -b * rho))
    return found


def _add(polynomial: dict[Monomial, float], monomial: tuple, c: float) -> None:
    key = tuple(sorted(factor for factor in monomial if factor != (1, 0)))
    polynomial[key] = polynomial.get(key, 0.0) + c
