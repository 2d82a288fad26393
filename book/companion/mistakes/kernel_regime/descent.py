"""Mistakes planted in the chapter *Projected gradient descent*: what its checks must notice."""

from dataclasses import replace

from shallowformer.kernel_regime.convergence import (
    step_size,
)
from shallowformer.kernel_regime.model.parameters import Parameters
from shallowformer.kernel_regime.neighbourhood import region
from shallowformer.verify.mistakes import Mistake, package


def _half_way(phi, phi0, rho):
    """Radial, odd, into the ball, and half as far from the centre each time."""
    inside = _right_project(phi, phi0, rho)
    return Parameters(*((a + b) / 2 for a, b in zip(inside.blocks, phi0.blocks, strict=True)))


def _too_far_in(phi, phi0, rho):
    return _right_project(phi, phi0, [0.9 * r for r in rho])


_right_project = region.project


#: Check → mistakes that must turn it red.
MISTAKES: dict[str, list[Mistake]] = {
    "kr-theorem-1-projection": [
        package("half as far from the centre", region, "project", _half_way),
    ],
    "kr-theorem-1-projection/blocks": [
        package("half as far from the centre", region, "project", _half_way),
    ],
    "kr-theorem-1-projection/descent": [
        Mistake("1/η in place of 1/η − Λ/2", lambda check: replace(check, rhs=lambda **p: 0 * check.rhs(**p) + 1e-12)),
    ],
    "kr-theorem-1-projection/rest": [package("into a smaller ball", region, "project", _too_far_in)],
    "kr-theorem-1-active/runs": [Mistake("a fifth of the path", lambda check: replace(
        check, fails=lambda n, g: check.fails(n, g, factor=0.2)))],
    "kr-theorem-1-step-size": [package("the trace for the eigenvalue", step_size, "curvature", step_size.trace)],
    "kr-theorem-1-step-size/projected": [Mistake("steps beyond the edge", lambda check: replace(
        check, fails=lambda n, g: check.fails(n, g, relative=1.3)))],
}  # fmt: skip
