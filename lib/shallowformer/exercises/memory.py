"""How much memory a computation takes on its way, counted in entries and not in the machine's bytes."""

from collections.abc import Callable

from jaxtyping import Float64
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from shallowformer.exercises.feedback import Feedback
from shallowformer.exercises.heads import Vector


class _LargestNew(TorchDispatchMode):
    """Remembers the number of entries of the largest tensor that any operation makes."""

    def __init__(self) -> None:
        super().__init__()
        self.entries = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        given = {_storage(leaf) for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, Tensor)}
        for leaf in tree_leaves(result):
            if isinstance(leaf, Tensor) and _storage(leaf) not in given:
                self.entries = max(self.entries, leaf.numel())
        return result


def largest_tensor(function: Callable, *arguments: object) -> int:
    """Number of entries of the largest tensor that a computation makes on its way; a view of what is there already is not made."""
    with _LargestNew() as mode:
        function(*arguments)
    return mode.entries


def without_matrix(
    feedback: Feedback,
    answer: Callable[..., Vector],
    arguments: tuple[Float64[Tensor, "..."], ...],
    instead: str,
) -> Feedback:
    """The same feedback, unless a function from vectors to a vector is right and makes a tensor of d² entries; ``instead`` says what to do.

    Args:
        arguments: a case whose last argument is a vector of many more entries, d, than there are tokens.
    """
    d = len(arguments[-1])
    if not feedback.passed or largest_tensor(answer, *arguments) < d * d:
        return feedback
    message = f"right, but for d = {d} you make a tensor of d² entries: {instead}"
    return Feedback(feedback.exercise, "wrong", message)


def _storage(tensor: Tensor) -> int:
    return tensor.untyped_storage().data_ptr()
