"""Signatures say shapes, and every call in a test is held against them."""

import ast
from collections.abc import Iterator
from pathlib import Path

import jaxtyping
import pytest
import sympy
import torch

import companion
import shallowformer
from checks import unchecked
from companion.theory.kernel_regime import targets
from shallowformer import data, softmax
from shallowformer.kernel_regime.bounds import smoothness
from shallowformer.training.autograd import Tangent

LIBRARY = Path(shallowformer.__file__).parent
COMPANION = Path(companion.__file__).parent
#: Public functions that ask a tensor of any kind and shape for its shape, dtype or device.
OF_ANY_TENSOR = {"arguments.shape", "arguments.same_kind", "arguments.tolerance"}


def tokens() -> torch.Tensor:
    return data.sphere(3, 4, 2, torch.Generator().manual_seed(0))


# The checks are on ----------------------------------------------------------------------------------------------------


def attention(n: int) -> torch.Tensor:
    return softmax.logits(tokens(), torch.zeros(5, 2, 2).double(), torch.zeros(n, 2).double())


def test_sizes_that_differ_between_arguments_are_noticed():
    assert attention(3).shape == (3, 5, 4)
    with pytest.raises(jaxtyping.TypeCheckError, match="parameter 'q'"):
        attention(2)


def test_a_dtype_is_noticed():
    with pytest.raises(jaxtyping.TypeCheckError, match="parameter 'z'"):
        softmax.jacobian(torch.zeros(3, dtype=torch.int64))


def test_a_field_of_a_dataclass_is_noticed():
    with pytest.raises(jaxtyping.TypeCheckError, match="parameter 'residual'"):
        Tangent(lambda point: point[0], (torch.zeros(2),), torch.zeros(2, 1))


def test_what_comes_back_is_noticed():
    """A target is one number a sample; this one returns the sample."""
    with pytest.raises(jaxtyping.TypeCheckError, match="return value"):
        targets.reachable(lambda X: X, tokens())


def test_a_symbol_passes_for_a_number():
    assert smoothness.L1_paper(sympy.Symbol("R", positive=True)).free_symbols


def test_unchecked_shows_the_functions_own_words_and_ends():
    with pytest.raises(ValueError, match="q must have shape"), unchecked(), unchecked():
        attention(2)
    with pytest.raises(jaxtyping.TypeCheckError):
        attention(2)


# Signatures say shapes ------------------------------------------------------------------------------------------------


def bare(annotation: ast.AST | None) -> bool:
    """Whether a type speaks of tensors without their shapes."""
    if annotation is None:
        return False
    if isinstance(annotation, ast.Subscript) and hasattr(jaxtyping, getattr(annotation.value, "id", "")):
        return False
    if isinstance(annotation, ast.Name | ast.Attribute):
        return ast.unparse(annotation).split(".")[-1] == "Tensor"
    return any(bare(part) for part in ast.iter_child_nodes(annotation))


def annotations(function: ast.FunctionDef) -> list[ast.AST | None]:
    arguments = function.args
    given = [
        *arguments.posonlyargs,
        *arguments.args,
        *arguments.kwonlyargs,
        arguments.vararg,
        arguments.kwarg,
    ]
    return [function.returns, *(each.annotation for each in given if each is not None)]


def public(body: list[ast.stmt], inside: str) -> Iterator[tuple[str, list[ast.AST | None]]]:
    """Functions, methods and fields of classes that readers may use, with their types."""
    for node in body:
        if isinstance(node, ast.AnnAssign):
            yield f"{inside}{ast.unparse(node.target)}", [node.annotation]
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            if node.name.startswith("_") and not node.name.startswith("__"):
                continue
            if isinstance(node, ast.ClassDef):
                yield from public(node.body, f"{inside}{node.name}.")
            else:
                yield f"{inside}{node.name}", annotations(node)


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        ("Tensor", True),
        ("torch.Tensor", True),
        ("tuple[Float[Tensor, 'n'], Tensor]", True),
        ("Callable[[Tensor], Float[Tensor, 'n']]", True),
        ("Mapping[str, Tensor | float]", True),
        ("Float[Tensor, 'n T d'] | None", False),
        ("tuple[Shaped[torch.Tensor, '...'], int]", False),
        ("Sequence[float]", False),
    ],
)
def test_a_tensor_without_a_shape_is_found(annotation, expected):
    assert bare(ast.parse(annotation, mode="eval").body) is expected


def test_every_public_function_says_the_shapes_of_its_tensors():
    silent = {
        ".".join([*path.relative_to(folder).with_suffix("").parts, name])
        for folder in (LIBRARY, COMPANION / "exercises", COMPANION / "experiments", COMPANION / "theory")
        for path in folder.rglob("*.py")
        for name, types in public(ast.parse(path.read_text(encoding="utf-8")).body, "")
        if any(map(bare, types))
    }
    assert silent == OF_ANY_TENSOR
