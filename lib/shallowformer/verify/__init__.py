"""How a claim is put to the test: five kinds of claims, each with a check that can fail; a sixth only repeats what is stored.

``identity``, ``inequality``, ``rate``, ``probability`` and ``enclosure`` declare a claim, run its check, show a verdict card, and raise
``ClaimFailed`` when the verdict is not the expected one, so that the cell, the chapter and the build fail with it.
The chapter *Put a claim of your own to the test* is the worked example.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields

from jaxtyping import Bool, Float
from torch import Generator, Tensor

from shallowformer.verify import planting
from shallowformer.verify.enclosure import Enclosure, Ends
from shallowformer.verify.identity import Identity, Route
from shallowformer.verify.inequality import Inequality, Side, batch, sides
from shallowformer.verify.probability import Probability
from shallowformer.verify.rate import Rate
from shallowformer.verify.regions import ball, free, interval, logits, sphere, tokens
from shallowformer.verify.search import SearchResult, maximise
from shallowformer.verify.sets import AdmissibleSet, product
from shallowformer.verify.verdict import RECORDED, SUPPORT, ClaimFailed, Verdict

__all__ = [
    "AdmissibleSet", "ClaimFailed", "Enclosure", "Identity", "Inequality", "Probability", "Rate", "SearchResult", "Verdict", "ball", "batch",
    "enclosure", "free", "identity", "inequality", "interval", "logits", "maximise", "probability", "product", "rate", "settle", "sides",
    "sphere", "tokens",
]  # fmt: skip

Check = planting.Check


def _known_options(kind: type, options: Mapping) -> Mapping:
    """Refuse a misspelt option by name."""
    allowed = {field.name for field in fields(kind)} - {"claim"}
    unknown = sorted(set(options) - allowed)
    if unknown:
        raise ValueError(f"options must be among {', '.join(sorted(allowed))}; got {', '.join(unknown)}")
    return options


def settle(check: Check) -> Verdict:
    """Run a check, show its verdict, and insist on the expected one.

    Args:
        check: any of the five kinds.
    """
    if check.support not in SUPPORT:
        raise ValueError(f"support must be one of {', '.join(SUPPORT)}, got {check.support!r}")
    if check.expect == RECORDED and check.support == "proved":
        raise ValueError(
            "support must be numerical or open of what is recorded: stored rows prove nothing, got 'proved'"
        )
    verdict = planting.run(check)
    verdict.show()
    if not verdict.passed:
        raise ClaimFailed(
            f"claim {verdict.claim} expects {verdict.expectation!r} but its check says {verdict.verdict!r}: {verdict.summary}"
        )
    return verdict


def identity(
    claim: str,
    formula: Route,
    against: Mapping[str, Route],
    over: Iterable[Mapping],
    tolerance: float,
    because: str,
    tolerances: Mapping[str, float] | None = None,
    **options,
) -> Verdict:
    """Put an identity to the test: a formula against independent routes to the same quantity.

    Returns: the verdict: ``holds`` or ``violated``.

    Args:
        claim: id, the label of the statement on the page.
        formula: keyword arguments of a case → tensor, or a tuple of tensors.
        against: name → route with the same arguments and result; two or more where there are two.
        over: cases, each a mapping of keyword arguments; edge cases belong among them.
        tolerance: largest allowed error of an entry, relative to the reference's.
        because: what the tolerance is derived from.
        tolerances: route → tolerance, where a route is less accurate (finite differences).
        **options: ``floor`` (entries of the reference below it count as it, 1e-3), ``expect`` (``holds``; ``violated``; ``not implied`` of what
            is said and does not follow; ``recorded`` of what is typed and compared with the rows that it was read from: no evidence), ``support`` (``proved``, ``numerical``, ``open``), ``finding`` (a sentence for scoreboard and errata).
    """
    return settle(
        Identity(
            claim,
            formula,
            dict(against),
            list(over),
            tolerance,
            because,
            dict(tolerances or {}),
            **_known_options(Identity, options),
        )
    )


def inequality(
    claim: str,
    lhs: Side,
    rhs: Side | float,
    over: AdmissibleSet | Mapping[str, AdmissibleSet],
    expect: str,
    because: str,
    **options,
) -> Verdict:
    """Put lhs ≤ rhs to the test: climb on lhs/rhs over the whole admissible set, from many starts.

    Returns: the verdict, with the worst point as ``witness``.

    Args:
        claim: id, the label of the statement on the page.
        lhs: named variables with a leading restart dimension → one number a restart, differentiable.
        rhs: the same, or a number above 0; ``sides`` makes both of a function that computes them together.
        over: the admissible set, or several by name (other dimensions); each is searched, and where the expectation is ``tight``
            or ``attains`` is given, the search must get there in each.
        expect: ``tight`` (the ratio 1 is approached), ``loose`` (it stays below), ``violated``, or ``recorded`` (typed beside the rows that it was read from).
        because: what the rounding allowance is derived from.
        **options: ``attains`` (the supremum of the ratio, which the search must reach and must not exceed), ``gap`` (how near counts
            as reached, 1e-6), ``rounding`` (how far above 1 is rounding, 1e-12), ``known`` (name → extremal point, see ``batch``; each must attain what the claim says is attained),
            ``restarts``, ``steps``, ``seed``, ``edges`` (True; False where rounding decides at faces, centres and far out), ``support``, ``finding``.
    """
    return settle(Inequality(claim, lhs, rhs, over, expect, because, **_known_options(Inequality, options)))


def rate(
    claim: str,
    measure: Callable[[float, int], float],
    over: Sequence[float],
    exponent: float,
    relation: str,
    seeds: Sequence[int],
    resolution: float,
    because: str,
    **options,
) -> Verdict:
    """Put a rate to the test: fit the exponent over seeds and compare its bootstrap interval with the claimed one.

    Returns: the verdict: ``supported``, ``violated`` or ``undecided``.

    Args:
        claim: id, the label of the statement on the page.
        measure: (value, seed) → a number above 0.
        over: at least three values of m, τ, T, n, …
        exponent: the claimed slope of log y against log x (or against x, for ``law="geometric"``).
        relation: ``equal``; ``at most`` for an upper bound y ≤ C·x^exponent, contradicted only by a larger slope; ``at least``.
        seeds: of the repetitions; 10 or more for a random quantity.
        resolution: widest interval that supports a claim; a wider one that meets the exponent is ``undecided`` and fails.
        because: why resolution and bias are what they are.
        **options: ``law`` (``power`` or ``geometric``), ``bias`` (known deviation at finite size, 0), ``deterministic`` (True: one seed
            is enough), ``expect``, ``support``, ``finding``.
    """
    return settle(
        Rate(
            claim,
            measure,
            tuple(over),
            exponent,
            relation,
            tuple(seeds),
            resolution,
            because,
            **_known_options(Rate, options),
        )
    )


def probability(
    claim: str,
    fails: Callable[[int, Generator], Bool[Tensor, " draws"] | Float[Tensor, " draws"]],
    at_most: float,
    draws: int,
    **options,
) -> Verdict:
    """Put a probability to the test: the failure frequency over independent draws against the claimed level.

    Returns: the verdict: ``supported``, ``violated`` or ``undecided``.

    Args:
        claim: id, the label of the statement on the page.
        fails: (draws, generator) → True where the event that should hold does not; with ``attains``, left side over right side.
        at_most: the claimed bound on the probability of failure, in (0, 1).
        draws: how many; the interval must end below the bound, so take at least 5.3 / ``at_most``.
        **options: ``seed``, ``stored`` (True of draws that were made before; else ``fails`` must use its generator), ``expect``, ``because``,
            ``support``, ``finding``. A bound that is hardly ever exceeded says more with
            ``attains``, the value that the 1 − ``at_most`` quantile of left side over right side has (or ``quantile``, another one):
            the quantile's 99 % interval must hold it, and then a bound with another constant is noticed.
    """
    return settle(Probability(claim, fails, at_most, draws, **_known_options(Probability, options)))


def enclosure(
    claim: str,
    formula: Callable[..., float],
    encloses: Callable[..., Ends],
    over: Iterable[Mapping],
    tolerance: float,
    because: str,
    **options,
) -> Verdict:
    """Put constants to the test: printed numbers against intervals that provably hold the true ones.

    Returns: the verdict: ``certified``, ``violated`` (an interval excludes the number and all within the tolerance) or ``undecided``.

    Args:
        claim: id, the label of the statement on the page.
        formula: keyword arguments of a case → the number that is used or printed, not 0.
        encloses: the same → the ends of an interval that holds the true one, from interval arithmetic (``enclosures.ends``).
        over: cases, each a mapping of keyword arguments.
        tolerance: how far, relative to the number, either end may lie from it.
        because: what the tolerance is derived from.
        **options: ``expect`` (``certified`` or ``violated``), ``support``, ``finding``.
    """
    return settle(
        Enclosure(
            claim, formula, encloses, list(over), tolerance, because, **_known_options(Enclosure, options)
        )
    )
