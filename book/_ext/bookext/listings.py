"""What a page shows of its code and printouts: one box for lines printed one after the other, one bar for hidden cells in a row."""

from bs4 import BeautifulSoup, Tag


def join_printouts(soup: BeautifulSoup) -> None:
    """Let lines that a cell prints one after the other stand in one box; a loop makes one output a line."""
    for output in soup.select("div.cell_output > div.output.stream"):
        before = output.find_previous_sibling()
        if before is not None and before.get("class") == output.get("class"):
            joined, added = before.find("pre"), output.find("pre")
            for piece in list(added.children):
                joined.append(piece.extract())
            output.extract()


def join_hidden_cells(soup: BeautifulSoup) -> None:
    """Put the code of a hidden cell without output into the bar of the hidden cell that follows, and thin the bars that stay alone."""
    for cell in soup.select("div.cell"):
        bar, after = _bar(cell), cell.find_next_sibling()
        if bar is None or cell.find(class_="cell_output"):
            continue
        following = _bar(after) if after is not None else None
        if following is None:
            cell["class"] = [*cell["class"], "shows-nothing"]
            continue
        for code in reversed(bar.find_all("div", class_="cell_input", recursive=False)):
            following.summary.insert_after(code.extract())
        cell.extract()


def _bar(cell: Tag) -> Tag | None:
    """The bar behind which a cell's code is, if it is hidden and no exercise's solution."""
    classes = cell.get("class", ())
    if cell.name != "div" or "cell" not in classes or "tag_solution" in classes:
        return None
    return cell.find("details", class_="above-input", recursive=False)
