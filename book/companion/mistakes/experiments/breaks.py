"""Mistakes planted in the chapter *When the assumptions break*: what its checks must notice."""

from dataclasses import replace

from companion.theory.kernel_regime import targets
from shallowformer.kernel_regime.convergence import unrolled
from shallowformer.kernel_regime.kernel import tangent_kernel
from shallowformer.kernel_regime.model import transformer
from shallowformer.verify.mistakes import Mistake, formula, package

_right_finite = tangent_kernel.finite
_right_outputs = unrolled.outputs


def _saturated(X, y, phi, eta, steps):
    """Residuals after some steps of heads that no longer move, by repeated multiplication."""
    h, r = transformer.hidden(X, phi), transformer.f(X, phi) - y
    for _ in range(steps):
        r = r - 2 * eta / len(y) * (h @ (h.T @ r)) / phi.m
    return r


def _of_draws(what, change):
    """What a probability check draws, changed."""
    return Mistake(what, lambda check: replace(check, fails=lambda *given: change(check.fails(*given))))


#: Prices of a sample among more samples and among fewer.
OF_A_SAMPLE = [
    _of_draws("the other way", lambda ratios: 1 / ratios),
    _of_draws("prices of all samples, not of one", lambda ratios: 4 * ratios),
    _of_draws("norms, not squared norms", lambda ratios: ratios.sqrt()),
]

#: Check → mistakes that must turn it red.
MISTAKES: dict[str, list[Mistake]] = {
    "kr-theorem-1-fence": [
        package("a kernel without attention", tangent_kernel, "finite", lambda *all, **more: (
            replace(right := _right_finite(*all, **more), w=0 * right.w))),
    ],
    "kr-theorem-1-runaway": [
        formula("half of the step", lambda value, case: _saturated(**case | {"eta": case["eta"] / 2})),
        formula("one step fewer", lambda value, case: _saturated(**case | {"steps": case["steps"] - 1})),
    ],
    "kr-theorem-1-runaway/safe": [
        package("steps a tenth longer", unrolled, "outputs", lambda *all: ((found := _right_outputs(*all))[0], 1.1 * found[1])),
    ],
    "kr-remark-9-outside": [
        package("only oddness", targets, "reachable", lambda target, X: (target(X) - target(-X)) / 2),
        package("no symmetry", targets, "reachable", lambda target, X: target(X)),
    ],
    "kr-remark-9-price/teacher": OF_A_SAMPLE,
    "kr-remark-9-price/jump": OF_A_SAMPLE,
}  # fmt: skip
