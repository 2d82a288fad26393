"""What a page folds: the checks of a statement, under one line that says what came out; on the scoreboard their names."""

from collections import Counter
from html import escape

from bs4 import BeautifulSoup, Tag

from bookext.results import of_the_book
from shallowformer.verify.claims import parse
from shallowformer.verify.typeset import as_html
from shallowformer.verify.verdict import IN_WORDS

_CARD = "div.verdict[data-verdict]"

#: What the text says beside a true statement does not hold, in words: by the check that refutes it, and where the check has no finding.
REFUTED = {
    "kr-lemma-2-frobenius/inference": "that the Frobenius norm of the third cumulant is at most its operator norm",
    "kr-lemma-2-sharp/naive": "the bound with R in the place of max(1, R)",
    "kr-lemma-2-third/naive": "the bound with R in the place of max(1, R)",
    "kr-lemma-5-optimal/lowered": "the constant 1.1 in the place of √2",
    "kr-proposition-1-noise/gram": "the Gram form for single samples",
    "kr-proposition-1-online/all-samples": "the bound for the loss over all samples",
    "kr-remark-10/longer": "that the attention error of four tokens is at most that of two",
    "rt-lemma-w-path/longer": "that a longer step pays for its path as well",
    "kr-theorem-a-step/condition": "part 2 without its condition on τ",
}


def fold_checks(soup: BeautifulSoup) -> None:
    """Fold every run of cells with verdicts, with the helper code and the paragraph before it that says what is checked.

    What other cells show, a figure or a table, stays where it is, and so do a reader's own checks.
    """
    for card in soup.select(f"div.cell {_CARD}"):
        cell = card.find_parent("div", class_="cell")
        if _belongs(card) and _foldable(cell) and not cell.find_parent("details", class_="checks"):
            _fold(soup, cell)


def fold_names(soup: BeautifulSoup) -> None:
    """Fold the names of a statement's many further checks on the scoreboard, under the words that count them."""
    for count in soup.select("span.further-checks"):
        names = count.find_next_sibling("span", class_="their-names")
        box, line = soup.new_tag("details", attrs={"class": "checks"}), soup.new_tag("summary")
        count.find_parent("p").insert_after(box)
        line.extend(count.extract().contents[:])
        box.extend([line, names.extract()])


def _fold(soup: BeautifulSoup, cell: Tag) -> None:
    run = [cell]
    while (before := run[0].find_previous_sibling()) is not None and _foldable(before) and _helps(before):
        run.insert(0, before)
    while before is not None and _foldable(before) and not before.select(_CARD):  # a table between: it stays
        before = before.find_previous_sibling()
    if before is not None and _announces(before):
        run.insert(0, before)
        while (before := run[0].find_previous_sibling()) is not None and _is_unseen_help(before):
            run.insert(0, before)
    while (after := run[-1].find_next_sibling()) is not None and _foldable(after) and after.select(_CARD):
        run.append(after)
    box = soup.new_tag("details", attrs={"class": "checks"})
    run[-1].insert_after(box)
    line = soup.new_tag("summary")
    line.append(BeautifulSoup(_line([card for piece in run for card in piece.select(_CARD)]), "html.parser"))
    box.append(line)
    for piece in run:
        box.append(piece.extract())


def _belongs(card: Tag) -> bool:
    """Whether a card is of a statement of the book."""
    return parse(card.find("code").get_text()).label in of_the_book()


def _foldable(piece: Tag) -> bool:
    """Whether an element is a cell, an answer to an exercise apart, that shows no figure."""
    classes = piece.get("class", ())
    return (
        piece.name == "div"
        and "cell" in classes
        and "tag_solution" not in classes
        and not piece.find("figure")
    )


def _helps(cell: Tag) -> bool:
    """Whether a cell shows nothing but verdicts, if anything."""
    return cell.find(class_="cell_output") is None or bool(cell.select(_CARD))


def _is_unseen_help(piece: Tag) -> bool:
    """Whether a cell's code is hidden and shows nothing: before a paragraph that announces a check it is the check's."""
    return (
        _foldable(piece) and "tag_hide-input" in piece["class"] and piece.find(class_="cell_output") is None
    )


def _announces(piece: Tag) -> bool:
    """Whether a paragraph says what is checked below it."""
    strong = piece.find("strong") if piece.name == "p" else None
    return strong is not None and not strong.previous_sibling and strong.get_text().startswith("Check")


def _line(cards: list[Tag]) -> str:
    """The line under which checks are folded, and below it what they found, as HTML."""
    asides = [card for card in cards if _is_aside(card)]
    refuted = any(card.find(class_="verdict-mark").get_text() == "✗" for card in cards if card not in asides)
    came = Counter(card["data-verdict"] for card in cards if card not in asides)
    words = ", ".join(word if count == 1 else f"{word} ×{count}" for word, count in came.items())
    several = len(cards) > 1
    notices = escape(cards[0].find("summary").get_text().partition("; ")[2], quote=False)
    line = f"{_mark(refuted)} {len(cards)} check{'s' * several}: {words or 'refuted'}; {'the first ' * several}{notices}"
    said: list[str] = []  # what several checks found alike stands there once
    for card in cards:
        if card in asides:
            said.append(f"{_mark(refuted=True)} refuted, as the text says{_said(card)}")
        elif _has_finding(card) and _says(card) not in said:
            said.append(_says(card))
    return line + "".join(f'<span class="checks-found">{found}</span>' for found in said)


def _mark(refuted: bool) -> str:
    return f'<span class="verdict-mark{" is-refuted" * refuted}">{"✗" if refuted else "✓"}</span>'


def _is_aside(card: Tag) -> bool:
    """Whether a check refutes, as expected, what is said beside a statement that is not refuted."""
    claim = parse(card.find("code").get_text())
    statement = of_the_book().get(claim.label)
    as_expected = card["data-verdict"] == "violated" and "verdict-failed" not in card["class"]
    beside = bool(claim.part and statement) and statement.verdict not in ("violated", "not-implied")
    return as_expected and beside


def _says(card: Tag) -> str:
    """What a card says first, as HTML."""
    return card.find(class_="verdict-says").decode_contents()


def _has_finding(card: Tag) -> bool:
    """Whether a card says more than what its verdict means."""
    return card.find(class_="verdict-says").get_text() not in IN_WORDS.values()


def _said(card: Tag) -> str:
    """What a check refutes, or what it found instead, as the end of a sentence in HTML."""
    claim = card.find("code").get_text()
    return (
        f". Found: {_says(card)}"
        if _has_finding(card)
        else f": {as_html(REFUTED.get(claim, parse(claim).part))}"
    )
