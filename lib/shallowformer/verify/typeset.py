"""Mathematics in plain words, such as ``m^(−1/2)``, ``λ_max`` or ``O(n^{-1/2})``, set as HTML with raised and lowered text.

Findings, reasons and summaries of checks are plain text, so that they can be printed. Wherever they are shown as HTML they are set by
``as_html``: on cards, in the lines of folded checks, on the errata page, and around interactive figures.
"""

import html
import re

#: Greek, ℒ, ∇ and the like.
_SYMBOL = "\u0370-\u03ff\u1d00-\u1dbf\u2100-\u214f\u2200-\u22ff"
#: A name of code: all of ``scaled_dot_product_attention``, ``worst_ratio``, ``n_max_len``, ``attn.c_proj``, or what stands in backticks.
#: The base of an index is one letter; an underscore behind more than one letter, or a second one, belongs to a name.
_NAME = r"[A-Za-z0-9_]*"
_CODE = (
    rf"`[^`]*`|(?<!\S)_{_NAME}"
    rf"|(?<![A-Za-z0-9_])(?:[A-Za-z]{_NAME}\.[A-Za-z]{_NAME}_|[A-Za-z][A-Za-z0-9]+_|[A-Za-z]_[A-Za-z0-9]+_){_NAME}"
)
#: What is raised or lowered: a bracket's content, what stands between angles with them, one word, one number, or one symbol.
_SCRIPT = (
    r"\((?P<round>[^()]*)\)|{(?P<curly>[^{}]*)}"
    rf"|(?P<bare>⟨[^⟨⟩]*⟩|[−-]?(?:[A-Za-z]+|[0-9]+)(?![A-Za-z0-9_])|[⅓½⅔¼¾*⋆]|(?!−)[{_SYMBOL}])"
)
_MARKED = re.compile(rf"(?P<code>{_CODE})|(?<=\S)(?P<mark>[\^_])(?:{_SCRIPT})")
#: A hyphen that stands for a minus: before a number or a letter, and not between words or in ``1e-3``.
_MINUS = re.compile(r"(?<![\w.)\]-])-(?=[\d.∞(½]|[A-Za-z]\b)")


def as_html(text: str) -> str:
    """Set a plain text, which is escaped: exponents raised, indices lowered, minus signs for hyphens before numbers. Names of functions stay.

    Returns: HTML with no other marks than ``<sup>`` and ``<sub>``.
    """
    pieces, place = [], 0
    for found in _MARKED.finditer(text):
        pieces.append(_plain(text[place : found.start()]))
        pieces.append(html.escape(found["code"]) if found["code"] else _script(found))
        place = found.end()
    return "".join([*pieces, _plain(text[place:])])


def _plain(text: str) -> str:
    return html.escape(_MINUS.sub("−", text))


def _script(found: re.Match) -> str:
    name = "sup" if found["mark"] == "^" else "sub"
    inside = next(text for text in (found["round"], found["curly"], found["bare"]) if text is not None)
    return f"<{name}>{as_html(inside)}</{name}>"
