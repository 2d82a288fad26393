"""What plain Jupyter and Colab would not render in a Markdown cell."""

import re

from bookext.markup import directive, parse

#: What plain Jupyter and Colab know of what the site's parser finds.
COMMON = {"heading", "paragraph", "inline", "fence", "code_block", "math_block", "html_block", "blockquote", "hr", "bullet_list",
          "ordered_list", "list_item", "table", "thead", "tbody", "tr", "th", "td"}  # fmt: skip
COMMON_INLINE = {"text", "softbreak", "hardbreak", "code_inline", "math_inline", "em", "strong", "link", "image", "html_inline"}  # fmt: skip


def leftovers(text: str) -> list[str]:
    """What plain Jupyter would not render in a Markdown cell."""
    found = []
    for token in parse(text):
        if directive(token) or token.type.removesuffix("_open").removesuffix("_close") not in COMMON:
            found.append(f"{token.type} {token.info}{token.content}")
        for child in token.children or []:
            if child.type.removesuffix("_open").removesuffix("_close") not in COMMON_INLINE:
                found.append(f"{child.type} {child.content}")
            if child.type == "text" and re.search(
                r"\{[\w:.#-]+\}|\$\$|:::|\[\^|\]\(|^\(\S+\)=|\\[a-z]{2}", child.content
            ):
                found.append(child.content)
    for opening in ("<details>", "<blockquote>", "<summary>"):
        if text.count(opening) != text.count(opening.replace("<", "</")):
            found.append(opening)
    return found
