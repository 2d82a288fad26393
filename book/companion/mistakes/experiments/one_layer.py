"""Mistakes planted in the chapter *One layer, four theories*: what its checks must notice."""

from dataclasses import replace

from shallowformer.verify.mistakes import Mistake, measured

#: Check → mistakes that must turn it red.
MISTAKES: dict[str, list[Mistake]] = {
    f"kr-remark-i-reach{part}": [measured("another power", lambda value, power=power: value**power)]
    for part, power in (
        ("", 0.5),
        ("/scale-most", 1.5),
        ("/width", 0.2),
        ("/width-most", 2.0),
        ("/shared", 0.5),
        ("/shared-most", 2.0),
    )
} | {
    "kr-remark-i-reach/shared-width": [
        Mistake(
            "a unit's own attention",
            lambda check: replace(check, measure=lambda m, seed: check.measure(m, seed) * m**0.5),
        )
    ],
    "kr-remark-i-reach/shared-width-least": [
        Mistake(
            "time that width costs",
            lambda check: replace(check, measure=lambda m, seed: check.measure(m, seed) / m**0.5),
        )
    ],
}
