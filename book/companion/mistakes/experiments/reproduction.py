"""Mistakes planted in the chapter *Reproduction notes*: what its checks must notice."""

from shallowformer.kernel_regime.model import hessian, linear_model
from shallowformer.kernel_regime.model.parameters import Parameters
from shallowformer.verify.mistakes import Mistake, formula, package

_right_f_lin = linear_model.f_lin
_right_third = hessian.third
_right_f_lin = linear_model.f_lin
_right_third = hessian.third

#: Check → mistakes that must turn it red.
MISTAKES: dict[str, list[Mistake]] = {
    "kr-lemma-3-alike": [
        package("a tangent that does not see c", linear_model, "f_lin", lambda X, phi, phi0, *a, **o: _right_f_lin(X, Parameters(phi0.c, phi.U, phi.W), phi0)),
        formula("with m for √m", lambda value, case: value / len(case["phi"].c) ** 0.5),
    ],
}  # fmt: skip
