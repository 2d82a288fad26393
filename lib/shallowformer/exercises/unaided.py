"""What an exercise rules out is watched: automatic differentiation, and solvers of eigenvalues."""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.autograd import forward_ad
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from shallowformer.exercises.feedback import Feedback
from shallowformer.exercises.hints import copies


class _Derivatives(TorchFunctionMode):
    """Notices tensors that record how they were made, transforms of ``torch.func``, and derivatives carried forwards."""

    def __init__(self) -> None:
        super().__init__()
        self.used = False

    def __torch_function__(self, function, types, args=(), kwargs=None):
        self.used |= self._transformed() or forward_ad._current_level >= 0
        result = function(*args, **(kwargs or {}))
        self.used |= any(isinstance(leaf, Tensor) and leaf.requires_grad for leaf in tree_leaves(result))
        return result

    @staticmethod
    def _transformed() -> bool:
        interpreter = (
            torch._C._functorch.peek_interpreter_stack()
        )  # vmap, which differentiates nothing, is one too
        kinds = torch._C._functorch.TransformType
        return interpreter is not None and interpreter.key() in (kinds.Grad, kinds.Jvp)


class _Solvers(TorchDispatchMode):
    """Notices solvers of eigenvalues and singular values, by whatever name they are called."""

    def __init__(self) -> None:
        super().__init__()
        self.used = False

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        self.used |= any(part in str(function) for part in ("eig", "svd"))
        return function(*args, **(kwargs or {}))


def _watched(feedback: Feedback, answer: Callable, arguments: tuple, mode: object, message: str) -> Feedback:
    if not feedback.passed:
        return feedback
    with mode:
        answer(*copies(arguments))
    return Feedback(feedback.exercise, "wrong", message) if mode.used else feedback


def without_autograd(feedback: Feedback, answer: Callable, arguments: tuple) -> Feedback:
    """The same feedback, unless the function is right and differentiates by torch: backwards, forwards, or by ``torch.func``."""
    message = "right, but by automatic differentiation: write the derivative out"
    return _watched(feedback, answer, arguments, _Derivatives(), message)


def without_solver(feedback: Feedback, answer: Callable, arguments: tuple) -> Feedback:
    """The same feedback, unless the function is right and calls a solver of eigenvalues or singular values by torch."""
    message = "right, but by a solver of eigenvalues or singular values: find the formula"
    return _watched(feedback, answer, arguments, _Solvers(), message)
