"""The formulas of a text."""

from bookext.markup import walk


def formulas(text: str) -> list[tuple[str, bool]]:
    """Formulas of a text of the book or of a notebook, and whether they are displayed."""
    return [
        (part.content, part.type != "math_inline")
        for token in walk(text)
        for part in [token, *(token.children or [])]
        if part.type.startswith("math_")
    ]
