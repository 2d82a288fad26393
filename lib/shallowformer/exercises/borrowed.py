"""Whether an answer is the checker's own function: what is right because it was taken from the check is no answer.

Seen are a function of this package, also under ``functools.partial`` or a decorator that keeps ``__wrapped__``, and a function whose
code names one of ``companion.exercises`` or the reference, directly or in a helper beside it. Not seen are names made at run time (``getattr``
with a text, ``importlib``), the stack, and copied source: whoever takes that trouble has read the solution, which is public.
"""

import functools
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType, ModuleType

#: This package and the one beside it, which holds the chapters' checks, and where in them checks stand.
PACKAGES = (__name__.partition(".")[0], "companion")
EXERCISES = tuple(f"{package}.exercises" for package in PACKAGES)


def borrowed(answer: Callable, reference: Callable | None = None) -> str:
    """Name of the function of the package that an answer is, or of the one of ``exercises``, or the reference, that it calls; "" if none."""
    function = _innermost(answer)
    module = getattr(function, "__module__", None) or ""
    if _within(module, PACKAGES):
        return getattr(function, "__name__", "it")
    return next(_called(function, reference and _innermost(reference), set()), "")


def _innermost(answer: object) -> object:
    """What is called in the end: without partial arguments, binding, decorators."""
    for _ in range(100):  # a wrapper may lead to itself
        if isinstance(answer, functools.partial):
            answer = answer.func
        elif hasattr(answer, "__wrapped__"):
            answer = answer.__wrapped__
        elif hasattr(answer, "__func__"):
            answer = answer.__func__
        elif isinstance(vars(type(answer)).get("__call__"), FunctionType):
            answer = vars(type(answer))["__call__"]
        else:
            break
    return answer


def _called(function: object, reference: object, seen: set[int]) -> Iterator[str]:
    """Names of functions of ``exercises``, or of the reference, that the code of a function names."""
    if not isinstance(function, FunctionType) or id(function) in seen:
        return
    seen.add(id(function))
    names = set(_names(function.__code__))
    if any(_within(name, EXERCISES) for name in names):  # an import in the body
        yield "exercises"
    reached = [function.__globals__[name] for name in names if name in function.__globals__]
    reached += [cell.cell_contents for cell in function.__closure__ or () if _filled(cell)]
    reached += [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    for thing in reached:
        if isinstance(thing, ModuleType):
            yield from _members(thing, reference, names)
        elif isinstance(named := _innermost(thing), FunctionType):
            if _forbidden(named, reference):
                yield named.__name__
            elif named.__globals__ is function.__globals__:
                yield from _called(named, reference, seen)


def _members(module: ModuleType, reference: object, names: set[str], depth: int = 4) -> Iterator[str]:
    """Forbidden functions that are reached from a module of the package by these names."""
    if depth == 0 or not _within(module.__name__, PACKAGES):
        return
    for name in names:
        member = getattr(module, name, None)
        if isinstance(member, ModuleType):
            yield from _members(member, reference, names, depth - 1)
        elif _forbidden(_innermost(member), reference):
            yield name


def _forbidden(function: object, reference: object) -> bool:
    of_exercises = _within(getattr(function, "__module__", None) or "", EXERCISES)
    return isinstance(function, FunctionType) and (of_exercises or function is reference)


def _within(name: str, packages: tuple[str, ...]) -> bool:
    """Whether a dotted name is one of these, or stands below one."""
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def _names(code: CodeType) -> Iterator[str]:
    """Names in a function's code and in the functions inside it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _filled(cell: object) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False
