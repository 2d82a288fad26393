"""The proof of Theorem 1 at an iterate: every quantity that it speaks of, and every line that it draws between them."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from shallowformer import arguments
from shallowformer.activations import TANH, Activation
from shallowformer.contracts import Positive, contract
from shallowformer.kernel_regime.convergence.change_of_features import HeadBounds
from shallowformer.kernel_regime.convergence.theorem_1 import Constants
from shallowformer.kernel_regime.model import linear_model, transformer
from shallowformer.kernel_regime.model.gradients import Features, features
from shallowformer.kernel_regime.model.parameters import Parameters, difference, plus, squared_distance
from shallowformer.kernel_regime.neighbourhood import region
from shallowformer.queries import Query, last_token
from shallowformer.training import points


@dataclass(frozen=True)
class Terms:
    """What the proof of Theorem 1 speaks of, at one iterate φ."""

    residual: Float[Tensor, " n"]  # r_j = f(X⁽ʲ⁾; φ) − y⁽ʲ⁾
    app: Float[Tensor, " n"]  # f_lin(X⁽ʲ⁾; φ̃) − y⁽ʲ⁾
    lin: Float[Tensor, " n"]  # f(X⁽ʲ⁾; φ) − f_lin(X⁽ʲ⁾; φ)
    cof: Float[Tensor, " n"]  # change of features ⟨∇f(φ) − ∇f(φ⁽⁰⁾), φ̃ − φ⟩
    lin_there: Float[Tensor, " n"]  # f(X⁽ʲ⁾; φ̃) − f_lin(X⁽ʲ⁾; φ̃)
    rem: Float[Tensor, " n"]  # f(φ̃) − f(φ) − ⟨∇f(φ), φ̃ − φ⟩
    squares: Float[Tensor, " n"]  # ‖∇f(X⁽ʲ⁾; φ)‖²
    gradient: Parameters  # ∇L̂(φ)
    ascent: Float[Tensor, ""]  # ⟨∇L̂(φ), φ̃ − φ⟩
    distance: Float[Tensor, ""]  # V(φ) = ‖φ − φ̃‖²

    @property
    def loss(self) -> Float[Tensor, ""]:
        """L̂(φ)."""
        return self.residual.square().mean()

    @property
    def slope(self) -> Float[Tensor, ""]:
        """‖∇L̂(φ)‖²."""
        return points.inner(self.gradient.blocks, self.gradient.blocks)

    @property
    def errors(self) -> Float[Tensor, " n"]:
        """e_j = ε_app + ε_lin + ε_CoF."""
        return self.app + self.lin + self.cof


@dataclass(frozen=True)
class HeadTerms:
    """What the proof of Theorem 1 speaks of, at one iterate φ, head by head; φ_i is what belongs to head i."""

    #: ⟨∇_{φ_i}f(φ) − ∇_{φ_i}f(φ⁽⁰⁾), φ̃_i − φ_i⟩, which add up to the change of features
    products: Float[Tensor, "n m"]
    change_theta: Float[Tensor, "n m"]  # ‖∇_{θ_i}f(φ) − ∇_{θ_i}f(φ⁽⁰⁾)‖
    change_c: Float[Tensor, "n m"]  # |∇_{c_i}f(φ) − ∇_{c_i}f(φ⁽⁰⁾)|
    gradient: Float[Tensor, "n m"]  # ‖∇_{φ_i}f(φ)‖
    away: Float[Tensor, " m"]  # ‖φ̃_i − φ_i‖

    @property
    def change(self) -> Float[Tensor, "n m"]:
        """‖∇_{φ_i}f(φ) − ∇_{φ_i}f(φ⁽⁰⁾)‖."""
        return torch.hypot(self.change_theta, self.change_c)


class Comparison:
    """A data set, φ⁽⁰⁾ and a comparator φ̃ (``tilde``), prepared to evaluate the proof at many iterates.

    Source: Arda, Cayci, Eryilmaz 2026, appendix A.7.
    """

    def __init__(
        self,
        X: Float[Tensor, "n T d"],
        y: Float[Tensor, " n"],
        phi0: Parameters,
        tilde: Parameters,
        query: Query = last_token,
        sigma: Activation = TANH,
    ) -> None:
        arguments.shape("y", arguments.floating("y", y, "n"), (len(X),), "[n] as in X")
        self.X, self.y, self.phi0, self.tilde = X, y, phi0, tilde
        self.query, self.sigma = query, sigma
        self.start = features(X, phi0, query, sigma)
        self.there = transformer.f(X, tilde, query, sigma)
        self.f0 = self.start.c @ phi0.c / phi0.m**0.5
        self.lin_tilde = self.f0 + linear_model.along(self.start, phi0.c, difference(tilde, phi0))

    @torch.no_grad()
    def at(self, phi: Parameters) -> Terms:
        """Evaluate the proof at an iterate."""
        now, start = features(self.X, phi, self.query, self.sigma), self.start
        n, m = len(self.X), phi.m
        to_tilde, moved = difference(self.tilde, phi), difference(phi, self.phi0)
        f = now.c @ phi.c / m**0.5
        here = linear_model.along(now, phi.c, to_tilde)
        at_start = linear_model.along(start, self.phi0.c, to_tilde)
        residual = f - self.y
        pulled = linear_model.pull_back(now, 2 / n * residual / m**0.5)
        gradient = Parameters(pulled.c, phi.c[:, None] * pulled.U, phi.c[:, None, None] * pulled.W)
        own = phi.c.square().repeat_interleave(phi.d)
        by_u, by_w = (block.square().flatten(1) @ own for block in (now.u, now.w_left))
        return Terms(
            residual=residual,
            app=self.lin_tilde - self.y,
            lin=f - self.f0 - linear_model.along(start, self.phi0.c, moved),
            cof=here - at_start,
            lin_there=self.there - self.lin_tilde,
            rem=self.there - f - here,
            squares=(now.c.square().sum(1) + by_u + by_w * now.q.square().sum(-1)) / m,
            gradient=gradient,
            ascent=points.inner(gradient.blocks, to_tilde.blocks),
            distance=squared_distance(phi, self.tilde),
        )

    @torch.no_grad()
    def heads(self, phi: Parameters) -> "HeadTerms":
        """Evaluate what the proof says of single heads, (30) to (37) and (40)."""
        now, start = features(self.X, phi, self.query, self.sigma), self.start
        scale, q2 = phi.m**-0.5, now.q.square().sum(-1)[:, None]
        to_tilde = difference(self.tilde, phi)
        change = lambda a, b: scale * (phi.c[:, None] * a - self.phi0.c[:, None] * b)
        u, w_left, c = change(now.u, start.u), change(now.w_left, start.w_left), scale * (now.c - start.c)
        changed = Features(c, u, w_left, now.q)
        by_theta = now.u.square().sum(-1) + now.w_left.square().sum(-1) * q2
        return HeadTerms(
            products=c * to_tilde.c + linear_model.slopes(changed, to_tilde),
            change_theta=(u.square().sum(-1) + w_left.square().sum(-1) * q2).sqrt(),
            change_c=c.abs(),
            gradient=scale * (now.c.square() + phi.c.square() * by_theta).sqrt(),
            away=sum(block.reshape(phi.m, -1).square().sum(1) for block in to_tilde.blocks).sqrt(),
        )

    @contract
    def pulled(
        self, phi: Parameters, terms: Terms, eta: Positive, rho: Sequence[float] | None
    ) -> Float[Tensor, ""]:
        """How much nearer the step's projection brings it to φ̃: V(φ⁺) − V(Πφ⁺), at least ‖φ⁺ − Πφ⁺‖² if φ̃ is in the neighbourhood.

        Args:
            rho: radii of the neighbourhood; None for a step without projection, which reduces nothing.
        """
        if rho is None:
            return torch.zeros_like(terms.distance)
        stepped = plus(phi, terms.gradient, -eta)
        inside = region.project(stepped, self.phi0, rho)
        return squared_distance(stepped, self.tilde) - squared_distance(inside, self.tilde)


#: Two sides of an inequality.
Sides = tuple[Float[Tensor, ""], Float[Tensor, ""]]


def _largest(values: Tensor) -> Tensor:
    return values.abs().max()


@contract
def lines(terms: Terms, after: Float[Tensor, ""], constants: Constants, eta: Positive) -> dict[str, Sides]:
    """The inequalities of the paper's proof at one step, (24) to (43), by number: left side, right side.

    Returns: number of the display → the two sides. What is said of single heads is in ``head_lines``.
    Source: Arda, Cayci, Eryilmaz 2026, appendix A.7.

    Args:
        after: V of the iterate after it.
        constants: from ``theorem_1.paper``.
    """
    F, loss = constants.envelope, terms.loss
    number = terms.distance.new_tensor
    return {
        "24": (after, terms.distance + 2 * eta * terms.ascent + eta**2 * terms.slope),
        "28": (_largest(terms.lin), number(constants.lin)),
        "29": (_largest(terms.app), number(constants.app)),
        "38": (_largest(terms.cof), number(constants.cof)),
        "39": (terms.ascent, -2 * loss + 2 * F * constants.errors),
        "41": (terms.squares.max().sqrt(), number(constants.A)),
        "42": (terms.slope, number(4 * (F * constants.A) ** 2)),
        "43": (
            after,
            terms.distance
            - 4 * eta * loss
            + 4 * eta * F * constants.errors
            + (2 * eta * F * constants.A) ** 2,
        ),
    }


def head_lines(terms: Terms, heads: HeadTerms, bounds: HeadBounds) -> dict[str, Sides]:
    """The inequalities that lead to (38) and (41) through single heads: (30) to (32), (35) to (37) and (40), by number.

    Returns: number of the display → left side, right side; of (30) and (31) at the sample where the quotient is largest.
    Source: Arda, Cayci, Eryilmaz 2026, appendix A.7.

    Args:
        bounds: from ``change_of_features.heads_paper``.
    """
    number = terms.distance.new_tensor
    sizes, products = heads.products.abs().sum(1), (heads.change * heads.away).sum(1)
    at = lambda left, right: (left[k := (left / right.clamp(min=1e-300)).argmax()], right[k])
    return {
        "30": at(terms.cof.abs(), sizes),
        "31": at(sizes, products),
        "32": (_largest(heads.away), number(bounds.reach)),
        "35": (_largest(heads.change_theta), number(bounds.change_theta)),
        "36": (_largest(heads.change_c), number(bounds.change_c)),
        "37": (_largest(heads.change), number(bounds.change)),
        "40": (_largest(heads.gradient), number(bounds.gradient)),
    }
