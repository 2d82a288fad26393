"""Which statement uses which: read off the cross-references inside statements and their proofs.

A proof belongs to the statements of its ``##`` section that precede it without a proof of their own, so one proof may
serve several. A reference counts when it names a statement, or an equation that stands in a statement or its proof.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging
from sphinx_proof.nodes import proof_node

from bookext.chapters import statements

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Passage:
    """A statement or a proof."""

    owners: tuple[str, ...]  # labels of the statement, or of those that the proof proves
    targets: tuple[str, ...]  # labels of everything it refers to
    equations: tuple[str, ...]  # labels of the equations that stand in it


def passages(document: nodes.document) -> list[Passage]:
    """Find a page's statements and proofs. Returns: one passage each, in reading order."""
    found: list[Passage] = []
    waiting: list[str] = []  # statements that the next proof proves
    proved = False
    for node in document.findall(nodes.Element):
        if isinstance(node, nodes.section) and getattr(node.parent, "parent", None) is document:
            waiting = []
        elif "realtype" in node and "label" in node:
            if proved:
                waiting = []
            if node["realtype"] != "definition":
                waiting.append(node["label"])
            found.append(_passage(node, [node["label"]]))
            proved = False
        elif isinstance(node, proof_node):
            found.append(_passage(node, waiting))
            proved = True
    return found


def _passage(node: nodes.Element, owners: list[str]) -> Passage:
    return Passage(
        tuple(owners),
        tuple(reference["reftarget"] for reference in node.findall(pending_xref)),
        tuple(block["label"] for block in node.findall(nodes.math_block) if block.get("label")),
    )


def uses(found: Iterable[Passage], labels: Iterable[str]) -> dict[str, list[str]]:
    """Who uses whom.

    Returns: label → labels of the statements that it uses, both in reading order. Statements that share a proof do not use each other by
    it.
    """
    found, labels = list(found), list(labels)
    homes: dict[str, set[str]] = {label: {label} for label in labels}
    for passage in found:
        for equation in passage.equations:
            homes[equation] = set(passage.owners)
    used: dict[str, set[str]] = {label: set() for label in labels}
    for passage in found:
        named = set().union(*(homes.get(target, ()) for target in passage.targets)) - set(passage.owners)
        for owner in passage.owners:
            if owner in used:
                used[owner] |= named
    return {label: [other for other in labels if other in used[label]] for label in labels}


def collect(app: Sphinx, doctree: nodes.document) -> None:
    """Handle Sphinx's ``doctree-read``: keep a page's passages where Sphinx forgets and merges what is known of a page."""
    app.env.metadata[app.env.docname]["passages"] = passages(doctree)


def book_uses(env: BuildEnvironment, labels: Iterable[str]) -> dict[str, list[str]]:
    """Who uses whom in the book that has been read. Returns: as ``uses``."""
    return uses((passage for known in env.metadata.values() for passage in known.get("passages", ())), labels)


def compare_statements(app: Sphinx, env: BuildEnvironment) -> None:
    """Handle Sphinx's ``env-check-consistency``: sphinx-proof must have read the statements that this extension lists.

    sphinx-proof keeps neither titles nor the reading order, and is not at hand where chapters are executed; so they are listed by
    ``bookext.chapters.statements``.
    """
    listed = {label: (statement["page"], statement["kind"]) for label, statement in statements().items()}
    kinds = {kind for _, kind in listed.values()}
    seen = {
        label: (proof["docname"], proof["realtype"])
        for label, proof in getattr(env, "proof_list", {}).items()
        if proof["realtype"] in kinds
    }
    for label, (page, kind) in sorted(set(listed.items()) ^ set(seen.items())):
        by = "bookext.chapters" if listed.get(label) == (page, kind) else "sphinx-proof"
        logger.warning("the %s %s on %s is known to %s alone", kind, label, page, by)
