"""A run of descent beside its certificate: every bound at every step, measured over bounded."""

import bisect
import math
from collections import defaultdict
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from shallowformer import arguments
from shallowformer.contracts import Count, Positive, contract
from shallowformer.residual import gradients
from shallowformer.residual.descent import Regression
from shallowformer.residual.gradients import Backward
from shallowformer.residual.parameters import Parameters, Setting
from shallowformer.residual.random_start.certify import Cell, Certificate
from shallowformer.residual.random_start.slopes import Budgets
from shallowformer.residual.random_start.start import Start
from shallowformer.residual.spectra import largest, stacked
from shallowformer.training import descent
from shallowformer.training.points import Point

#: Steps between two looks at whether the run has come far enough.
CHUNK = 100
#: Bounds on the error that are smaller than this share of the first one are a difference of nearly equal numbers, and not compared.
SMALL = 1e-3
#: Steps that begin with less than this share of the first error are mostly rounding, and not compared.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Comparison:
    """What a run did, and how much of each bound it used."""

    errors: Float[Tensor, " t"]  # ‖E_t‖_F
    places: Float[Tensor, " t"]  # x_t = Σ_{s<t} μ‖E_s‖_F
    #: largest ratio of measured to bound by name: ``A``, ``U``, ``Z``, ``T``, ``one``, ``W_2`` (drifts since the start), ``R``, ``n_B``,
    #: ``H``, ``e`` (‖E_t‖_F against e_0 − 𝒜), ``distance`` (ψσ̲_Aσ̲_U against y_0 − 𝒜), ``step_A``, ``step_Z``, ``step_U``, ``step_T``,
    #: ``step_one``, ``omega`` (of a single step, over μ‖E‖_F), ``rate`` (‖E_{t+1}‖_F/‖E_t‖_F against 1 − μα), ``x`` (against X), and
    #: ``rho`` where the linear run is followed
    used: dict[str, float]
    #: in Frobenius norm, at the end, relative to the start: ``A`` over σ_A, ``Z`` over ‖Z‖, ``one``, ``U`` over ‖W‖_F, ``T`` over the three
    #: blocks' norm
    drifts: dict[str, float]
    faster: float  # measured exponent of the last step over the guaranteed one

    def row(self) -> dict[str, object]:
        """What an experiment stores: the number of steps, which share of the error was left, and the last three."""
        left = float(self.errors[-1] / self.errors[0])
        return {
            "steps": len(self.errors) - 1,
            "left": left,
            "used": self.used,
            "drifts": self.drifts,
            "faster": self.faster,
        }


@contract
def compare(
    X: Float[Tensor, "P N d"],
    Y: Float[Tensor, "P N K"],
    theta: Parameters,
    setting: Setting,
    s: Start,
    certificate: Certificate,
    *,
    steps: Count = 3000,
    stop: Positive = 1e-5,
) -> Comparison:
    """Descend with the step of a certificate that holds, from its start s, and hold everything against its bound.

    Args:
        steps: at most so many.
        stop: end once ‖E‖_F is below this share of the first one.
    """
    if not certificate.holds:
        raise ValueError(f"certificate must hold, got one that does not: {certificate.why}")
    watch = _Watch(X, Y, theta, setting, s, certificate)
    point: Point = theta
    while watch.errors[-1:] > [stop * s.e] or not watch.errors:
        left = steps - max(len(watch.errors) - 1, 0)
        if left <= 0:
            break
        many = min(CHUNK, left)
        run = descent.run(
            Regression(X, Y, setting), point, eta=certificate.mu, steps=many, every=1, observe=watch
        )
        point = run.end
    return watch.report()


class _Watch:
    """Keeps what the last step began with."""

    def __init__(self, X, Y, theta, setting, s: Start, certificate: Certificate) -> None:
        self.data, self.setting, self.s, self.known = (X, Y), setting, s, certificate
        self.start = gradients.unchecked(X, Y, theta, setting)
        self.theta, self.mu = theta, certificate.mu
        self.begins = [cell.x for cell in certificate.cells]
        self.errors: list[float] = []
        self.places: list[float] = []
        self.used: dict[str, float] = defaultdict(float)
        self.before: tuple[Backward, Parameters, Cell] | None = None
        self.R_0 = theta.W_2 @ theta.W_U
        self.linear = torch.zeros_like(self.R_0)  # how far W_2W_U would have moved if nothing but W_2 did

    def __call__(self, step: int, point: Point) -> None:
        if step == 0 and self.errors:
            return  # chunks share an end
        theta = Parameters(*point)
        now = gradients.unchecked(*self.data, theta, self.setting)
        e = math.sqrt(2 * float(now.loss))
        self.places.append(self.places[-1] + self.mu * self.errors[-1] if self.errors else 0.0)
        if self.errors:
            self._step(now, theta, e)
        self.errors.append(e)
        x = self.places[-1]
        cell = self.known.cells[max(bisect.bisect_right(self.begins, x) - 1, 0)]
        self._place(now, theta, e, cell, x - cell.x)
        self.before = now, theta, cell

    def put(self, name: str, value: float, bound: float) -> None:
        """Keep the largest ratio; 0 of 0 says nothing."""
        if value > 0 or bound > 0:
            self.used[name] = max(self.used[name], value / bound if bound > 0 else math.inf)

    def _place(self, now: Backward, theta: Parameters, e: float, cell: Cell, beyond: float) -> None:
        """All that the certificate says of where the run is."""
        s, here = (
            self.s,
            Budgets(*(b + beyond * k for b, k in zip(cell.budgets, cell.slopes.grows, strict=True))),
        )
        area = cell.area + beyond * cell.alpha
        apart = lambda *names: math.hypot(
            *(float((getattr(theta, n) - getattr(self.theta, n)).norm()) for n in names)
        )
        A, H = stacked(now.forward.A), stacked(now.forward.H)
        self.drift = Budgets(
            A=float((now.forward.A - self.start.forward.A).norm()),
            U=apart("W_U"),
            Z=float((now.forward.Z - self.start.forward.Z).norm()),
            T=apart("W_V", "W_Q", "W_K"),
            one=apart("W_1"),
        )
        for name in ("A", "U", "Z", "T", "one"):
            self.put(name, getattr(self.drift, name), getattr(here, name))
        R, bound = theta.W_2 @ theta.W_U, cell.slopes
        self.put("W_2", apart("W_2"), bound.path)
        self.put("R", float(largest(R)), bound.r)
        self.put("H", float(largest(H)), bound.grows.U)
        through = torch.einsum(
            "jk,nj,ij->nki", R, stacked(self.setting.activation.first(now.forward.pre)), theta.W_1
        )
        self.put("n_B", float(largest(self.setting.g_f * theta.W_U.mT + through).max()), bound.n_B)
        if s.linear is not None:
            self.put("rho", float((R - self.R_0 - self.linear).norm()), bound.rho)
        if s.e - area > SMALL * s.e:
            self.put("e", e, s.e - area)
        if self.known.distance - area > SMALL * s.e:
            T = torch.linalg.qr(A.mT, mode="r").R.mT
            psi = float((torch.linalg.solve(T, stacked(now.E)) @ torch.linalg.pinv(theta.W_U)).norm())
            self.put(
                "distance", psi * (s.sigma_A - here.A) * (s.sigma_U - here.U), self.known.distance - area
            )
        self.put("x", self.places[-1], self.known.X)

    def _step(self, now: Backward, theta: Parameters, e: float) -> None:
        """All that it says of the step that led there."""
        last, old, cell = self.before
        A_0, U_0 = stacked(self.start.forward.A), self.theta.W_U
        error = A_0 @ self.linear + stacked(self.start.E)
        self.linear = self.linear - self.mu * A_0.mT @ error @ (U_0.mT @ U_0)
        if self.errors[-1] <= arguments.tolerance(ROUNDING, error) * self.s.e:
            return
        grows, per = cell.slopes.grows, self.mu * self.errors[-1]
        moved = lambda *names: (
            math.hypot(*(float((getattr(theta, n) - getattr(old, n)).norm()) for n in names)) / per
        )
        self.put("step_A", float((now.forward.A - last.forward.A).norm()) / per, grows.A)
        self.put("step_Z", float((now.forward.Z - last.forward.Z).norm()) / per, grows.Z)
        self.put("step_U", moved("W_U"), grows.U)
        self.put("step_T", moved("W_V", "W_Q", "W_K"), grows.T)
        self.put("step_one", moved("W_1"), grows.one)
        A, E = stacked(last.forward.A), stacked(last.E)
        by_W_2 = self.mu * A @ (A.mT @ E) @ (old.W_U.mT @ old.W_U)
        self.put("omega", float((stacked(now.E) - E + by_W_2).norm()) / per, grows.leak)
        self.put("rate", e / self.errors[-1], 1 - self.mu * cell.alpha)

    def report(self) -> Comparison:
        s, d, W = self.s, self.drift, self.theta
        size = lambda *names: math.hypot(*(float(getattr(W, n).norm()) for n in names))
        drifts = {
            "A": d.A / s.sigma_A,
            "Z": d.Z / s.z,
            "one": d.one / size("W_1"),
            "U": d.U / size("W_U"),
            "T": d.T / size("W_V", "W_Q", "W_K"),
        }
        exponent = (
            -math.log(self.errors[-1] / self.errors[-2])
            if min(self.errors[-2:]) > 0 and len(self.errors) > 1
            else math.nan
        )
        return Comparison(
            torch.tensor(self.errors, dtype=torch.float64),
            torch.tensor(self.places, dtype=torch.float64),
            dict(self.used),
            drifts,
            exponent / (self.mu * self.known.alpha),
        )
