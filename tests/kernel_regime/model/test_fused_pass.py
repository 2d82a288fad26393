"""The fused pass against the pass in torch, in double precision: shapes at the edge, saturated softmax, any number of threads, none of numba."""

import math
import os
import subprocess
import sys
import threading
import time

import pytest
import torch
from torch import Generator

from shallowformer import activations, data
from shallowformer.kernel_regime.convergence import descent
from shallowformer.kernel_regime.model import loss as losses
from shallowformer.kernel_regime.model import parameters
from shallowformer.kernel_regime.model.loss import Loss
from shallowformer.kernel_regime.model.students import Students
from shallowformer.kernel_regime.model.torch_pass import TorchPass

fused_pass = pytest.importorskip("shallowformer.kernel_regime.model.fused_pass", reason="pip install numba")

SIGMAS = {sigma.name: sigma for sigma in activations.ALL}


def problem(n, T, d, widths, dtype, scale=1.0, columns=1):
    generator = Generator().manual_seed(n)
    X = data.clipped_gaussian(n, T, d, generator, dtype)
    y = torch.randn(n, columns, generator=generator, dtype=dtype)
    students = Students.of(*(parameters.random(m, d, generator, dtype) for m in widths))
    return X, X[:, -1].contiguous(), y, Students(students.c, students.U, scale * students.W, students.widths)


def double(students):
    return students.map(torch.Tensor.double)


def assert_near(actual, wanted, budget):
    size = max(float(wanted.abs().max()), 1e-3)
    error = float((actual.double() - wanted).abs().max()) / size
    assert error <= budget, f"relative error {error:.2g}, allowed are {budget:.2g}"


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("sigma", fused_pass.ACTIVATIONS)
@pytest.mark.parametrize(
    ("n", "T", "d", "widths", "scale", "columns"),
    [
        (1, 1, 1, (2,), 1.0, 1),
        (3, 1, 4, (64,), 1.0, 1),
        (5, 2, 1, (65,), 1.0, 1),
        (130, 7, 5, (100,), 1.0, 1),
        (300, 16, 8, (40, 60, 92), 1.0, 3),
        (70, 37, 3, (4, 70), 1.0, 1),
        (9, 1000, 8, (64,), 1.0, 1),
        (70, 6, 8, (128,), 30.0, 1),
    ],
)
def test_it_agrees_with_the_pass_in_torch(n, T, d, widths, scale, columns, sigma, dtype):
    X, q, y, students = problem(n, T, d, widths, dtype, scale, columns)
    oracle = TorchPass(SIGMAS[sigma], torch.float64)
    wanted, slope = oracle.gradient(double(students), X.double(), q.double(), y.double())
    found, gradient = fused_pass.FusedPass(sigma).gradient(students, X, q, y)
    # A logit of size L carries an absolute rounding error of d·L roundings, which its weight inherits as a relative one.
    largest = float(torch.linalg.vector_norm(students.W, dim=(0, 1)).max())
    budget = 16 * torch.finfo(dtype).eps * (1 + largest)
    for actual, expected in zip((found, *gradient.blocks), (wanted, *slope.blocks), strict=True):
        assert actual.dtype == dtype
        assert_near(actual, expected, budget)
    outputs = fused_pass.FusedPass(sigma).outputs(students, X, q)
    assert_near(outputs, oracle.outputs(double(students), X.double(), q.double()), budget)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("share", [0.6, 0.64, 0.66, 1.0, 1.5, 20.0])
def test_logits_as_large_as_can_be_do_not_overflow(share, sign, dtype):
    """Tokens along the query, and logits from −L to L, where 2^L is this share of the exponents there are."""
    L = share * math.log2(torch.finfo(dtype).max)
    X = torch.tensor([1.0, 1.0, 0.5, -1.0, 0.0], dtype=dtype)[None, :, None].expand(70, 5, 1).contiguous()
    q, y = torch.full((70, 1), float(sign), dtype=dtype), torch.zeros(70, 1, dtype=dtype)
    student = Students.of(parameters.random(64, 1, Generator().manual_seed(0), dtype))
    student.W[:] = L * math.log(2)
    oracle = TorchPass(activations.TANH, torch.float64)
    wanted, slope = oracle.gradient(double(student), X.double(), q.double(), y.double())
    found, gradient = fused_pass.FusedPass("tanh").gradient(student, X, q, y)
    budget = 8 * torch.finfo(dtype).eps * (1 + L)
    for actual, expected in zip((found, *gradient.blocks[:2]), (wanted, *slope.blocks[:2]), strict=True):
        assert_near(actual, expected, budget)


def test_a_saturated_head_has_no_gradient():
    X, q, y, student = problem(70, 5, 4, (64,), torch.float64)
    student.U[:] *= 1e30
    gradient = fused_pass.FusedPass("tanh").gradient(student, X, q, y)[1]
    assert (gradient.U == 0).all()
    assert (gradient.W == 0).all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("count", [0, 1, 3])
def test_directional_derivatives_come_in_the_same_pass(count, dtype):
    X, q, y, student = problem(90, 5, 6, (80,), dtype)
    moves = [Students.of(parameters.random(80, 6, Generator().manual_seed(k), dtype)) for k in range(count)]
    oracle = TorchPass(activations.TANH, torch.float64)
    wanted = oracle.gradient_and_slopes(
        double(student), X.double(), q.double(), y.double(), list(map(double, moves))
    )
    found = fused_pass.FusedPass("tanh").gradient_and_slopes(student, X, q, y, moves)
    for actual, expected in zip(
        (found[0], *found[1].blocks, *found[2:]), (wanted[0], *wanted[1].blocks, *wanted[2:]), strict=True
    ):
        assert actual.shape == expected.shape
        if expected.numel():
            assert_near(actual, expected, 256 * torch.finfo(dtype).eps)


def large(**options):
    X, _, y, students = problem(300, 16, 8, (64,), torch.float64)
    return Loss(X, y[:, 0], **options), students


def test_a_loss_takes_it_where_it_pays_and_results_are_the_same_up_to_rounding():
    (loss, students), (plain, _) = large(), large(fused=False)
    assert isinstance(loss._way(loss.n, students), fused_pass.FusedPass)
    assert isinstance(loss._way(4, students), TorchPass)
    assert isinstance(plain._way(plain.n, students), TorchPass)
    (first, slope), (second, other) = loss.losses_and_gradient(students), plain.losses_and_gradient(students)
    for actual, expected in zip((first, *slope.blocks), (second, *other.blocks), strict=True):
        assert_near(actual, expected, 1e-12)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_goes_through_torch(dtype):
    X, _, y, students = problem(300, 16, 8, (64,), torch.float32)
    loss = Loss(X.to(dtype) / 2, y[:, 0].to(dtype))
    assert loss.losses(students.map(lambda block: block.to(dtype))).dtype == dtype


def test_very_long_sequences_go_through_torch_which_adds_them_up_more_carefully():
    X, _, y, students = problem(2, losses.MOST_TOKENS + 1, 2, (64,), torch.float32)
    loss = Loss(X, y[:, 0])
    assert isinstance(loss._way(loss.n, students), TorchPass)


def test_an_activation_that_it_does_not_know_goes_through_torch():
    loss, students = large(sigma=activations.SINE)
    assert isinstance(loss._way(loss.n, students), TorchPass)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_number_of_threads_changes_no_bit(dtype):
    X, _, y, students = problem(300_000, 1, 1, (64,), dtype)  # so many that torch's own sums are shared out
    loss = Loss(X, y[:, 0])
    before = torch.get_num_threads()
    try:
        found = []
        for threads in (1, 2, 3):
            torch.set_num_threads(threads)
            value, gradient = loss.losses_and_gradient(students)
            found.append((value, *gradient.blocks))
    finally:
        torch.set_num_threads(before)
    assert all(a.equal(b) for other in found[1:] for a, b in zip(found[0], other, strict=True))


def test_a_run_that_was_stopped_goes_on_bit_for_bit(tmp_path):
    loss, _ = large()
    start = parameters.symmetric(64, 8, Generator().manual_seed(1))
    plan = {"eta": 0.5, "steps": 12, "rho": (0.3, 0.3, 0.3), "save_every": 3}
    whole = descent.run(loss, start, **plan)

    class Unplugged(Exception):
        pass

    def unplug(step, students):
        if step >= 7:
            raise Unplugged
        return {}

    options = {**plan, "every": 1, "checkpoint": tmp_path / "run"}
    with pytest.raises(Unplugged):
        descent.run(loss, start, observe=unplug, **options)
    resumed = descent.run(loss, start, observe=lambda step, students: {}, **options)
    for a, b in zip(whole.phi[0].blocks, resumed.phi[0].blocks, strict=True):
        assert a.equal(b)
    assert whole.step_losses.equal(resumed.step_losses)


def run(code: str, **environment: str) -> str:
    """What a fresh process prints."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=300,
        env=os.environ | environment,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


#: The loss of a start that is not symmetric; so few samples that torch starts no threads, which would not survive a fork.
PRINTED = """
import torch
from shallowformer.kernel_regime.model import loss, parameters
torch.set_num_threads(2)
generator = torch.Generator().manual_seed(0)
X = 0.1 * torch.randn(200, 16, 8, generator=generator, dtype=torch.float64).clamp(-1, 1)
phi = parameters.random(128, 8, generator, torch.float64)
value = lambda **options: float(loss.Loss(X, torch.ones(200, dtype=torch.float64), **options)(phi)[0])
"""


def test_without_numba_the_loss_goes_through_torch():
    blocked = run("import sys; sys.modules['numba'] = None" + PRINTED + "print(value())")
    before, here = torch.get_num_threads(), {}
    exec(PRINTED, here)
    assert blocked == str(here["value"](fused=False))
    assert float(blocked) == pytest.approx(here["value"](), rel=1e-13)
    torch.set_num_threads(before)


def test_where_nothing_can_be_kept_it_can_be_compiled_all_the_same():
    nowhere = "import numba.core.caching as c; c.CacheImpl._locator_classes = []"
    assert (
        run(nowhere + PRINTED + "loss.Loss(X, X[:, 0, 0]); print(loss._fused('tanh') is not None)") == "True"
    )


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_it_works_in_a_process_that_was_forked():
    forked = """
import os, sys
first = value()
child = os.fork()
if not child:
    os._exit(value() != first)
print(os.waitpid(child, 0)[1])
"""
    assert run(PRINTED + forked) == "0"


@pytest.mark.parametrize("here", [True, False])
def test_when_a_part_fails_no_other_is_begun_and_the_error_is_seen(here):
    before, done = torch.get_num_threads(), []

    def part(k, scratch):
        time.sleep(0.05)
        if (threading.current_thread() is threading.main_thread()) == here:
            raise ArithmeticError("one")
        done.append(k)

    try:
        torch.set_num_threads(2)
        with pytest.raises(ArithmeticError, match="one"):
            fused_pass._share_out(part, 40, tuple)
    finally:
        torch.set_num_threads(before)
    seen = len(done)
    time.sleep(0.2)
    assert len(done) == seen


@pytest.mark.parametrize("block", ["c", "U", "W"])
@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_parameters_that_are_not_finite_show_in_the_loss(block, value):
    loss, students = large()
    getattr(students, block).view(-1)[5] = value
    found = loss.losses(students)
    assert not torch.isfinite(found).all()


def test_a_student_that_diverged_leaves_the_others_alone():
    X, q, y, students = problem(130, 7, 5, (64, 64), torch.float64)
    fused = fused_pass.FusedPass("tanh")
    losses, gradient = fused.gradient(students, X, q, y)
    students.W[0, 0, 70] = float("nan")
    broken, slope = fused.gradient(students, X, q, y)
    assert broken.isnan().tolist() == [False, True]
    assert_near(broken[0], losses[0], 1e-13)
    for block, other in zip(gradient.blocks, slope.blocks, strict=True):
        assert_near(other[..., :64], block[..., :64], 1e-13)
        assert other[..., 64:].isnan().all()
