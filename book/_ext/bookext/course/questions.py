"""What an assignment's source says of its questions: points, by hand or not, and rubrics."""

import ast
import re
from dataclasses import asdict, dataclass, field
from pathlib import Path

import nbformat
import yaml

from bookext.markup import MarkupError

_BOUNDARY = re.compile(r"#\s*(BEGIN|END)\s+(QUESTION|SOLUTION|PROMPT|TESTS)\b", re.IGNORECASE)
_RUBRIC = re.compile(r"^- (\d+(?:\.\d+)?) points?: (.+(?:\n(?!- ).+)*)", re.MULTILINE)


@dataclass
class Question:
    """A question of an assignment."""

    name: str  # for example ``q1``
    points: float  # what it is worth
    manual: bool  # marked by hand
    title: str = ""  # the heading of its text, without number and minutes
    names: list[str] = field(default_factory=list)  # what its tests take from the notebook
    #: points and what earns them, of a question that is marked by hand
    rubric: list[tuple[float, str]] = field(default_factory=list)

    @property
    def row(self) -> dict:
        """As it stands in ``questions.json``."""
        return asdict(self)


@dataclass
class Marked:
    """A source, taken apart."""

    questions: list[Question]  # in their order
    secrets: list[str]  # what no student may find: solutions and hidden tests, piece by piece


def take_apart(notebook: nbformat.NotebookNode, path: Path) -> Marked:
    """Read the marks of what ``master.read`` returns."""
    questions: list[Question] = []
    secrets: list[str] = []
    hidden: list[str] = []
    shown = ""
    inside: list[str] = []
    tests: dict[str, float | None] = {}  # its own points, if it has some

    def error(what: str) -> MarkupError:
        return MarkupError(
            f"{path.name}: {questions[-1].name if questions else 'before the first question'}: {what}"
        )

    for cell in notebook.cells:
        mark = _BOUNDARY.match(cell.source) if cell.cell_type == "raw" else None
        if mark and mark[1].upper() == "END":
            inside.pop()
            if mark[2].upper() == "QUESTION":
                _complete(questions[-1], tests, error)
        elif mark and inside and mark[2].upper() == "QUESTION":
            raise error(f"a question begins inside the block {inside[-1]}")
        elif mark:
            inside.append(mark[2].upper())
            if inside == ["QUESTION"]:
                config = yaml.safe_load(cell.source)
                if any(config["name"] == each.name for each in questions):
                    raise error(f"a second question {config['name']}")
                if not isinstance(config.get("points"), int | float):
                    raise MarkupError(f"{path.name}: {config['name']}: it has no points (one number)")
                questions.append(Question(config["name"], config["points"], config.get("manual", False)))
                tests = {}
        elif inside[-1:] == ["TESTS"]:
            function = _test(cell.source, error)
            if function.name in tests:
                raise error(f"two tests are named {function.name}; only one would run")
            own = re.search(r"^points:\s*(\d+(?:\.\d+)?)\s*$", cell.source, re.MULTILINE)
            tests[function.name] = float(own[1]) if own else None
            questions[-1].names += [a.arg for a in function.args.args if a.arg not in questions[-1].names]
            if re.search(r"^#.*\bhidden\b|^hidden:\s*true", cell.source, re.IGNORECASE | re.MULTILINE):
                secrets.append(f"def {function.name}(")
                hidden += _telling(ast.unparse(function))
            else:
                shown += ast.unparse(function)
        elif inside[-1:] == ["SOLUTION"]:
            if cell.cell_type == "markdown":
                secrets += _telling(cell.source)
                if cell.source.startswith("**Rubric**"):
                    questions[-1].rubric += [
                        (float(p), " ".join(t.split())) for p, t in _RUBRIC.findall(cell.source)
                    ]
            else:
                secrets += _solutions(cell.source)
        elif cell.cell_type == "code" and re.search(r"#\s*(BEGIN )?SOLUTION", cell.source):
            raise error("a solution outside of a solution block would stay in the student's notebook")
        elif inside == ["QUESTION"] and cell.cell_type == "markdown" and not questions[-1].title:
            heading = re.search(r"^#+ (.+)$", cell.source, re.MULTILINE)
            questions[-1].title = (
                re.sub(r"^Question \d+: | \(\d+ minutes\)$", "", heading[1]) if heading else ""
            )
    if inside:
        raise error(f"the block {inside[-1]} has no end")
    # a hidden test may try other cases in the words of a visible one
    return Marked(questions, secrets + [line for line in hidden if line not in shown])


def _complete(question: Question, tests: dict[str, float | None], error) -> None:
    if question.manual and sum(points for points, _ in question.rubric) != question.points:
        raise error(
            "inside its solution block a Markdown cell must begin with **Rubric** and list '- 3 points: what earns them', "
            f"{question.points:g} in all; it has {[points for points, _ in question.rubric]}"
        )
    if question.manual == bool(tests):
        raise error("a question has tests, or is marked by hand (manual: true); this one has both or neither")
    own = [points for points in tests.values() if points is not None]
    shared = len(own) < len(tests)  # what is left goes to those without points
    if sum(own) > question.points or (own and not shared and abs(sum(own) - question.points) > 1e-9):
        raise error(f"it has {question.points:g} points, and its tests have {sum(own):g} in all")


def _test(source: str, error) -> ast.FunctionDef:
    """The function that a test cell consists of."""
    body = [
        node
        for node in ast.parse(source).body
        if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
    ]
    if len(body) != 1 or not isinstance(body[0], ast.FunctionDef):
        raise error("a test cell is one function, whose parameters are what the student defines")
    return body[0]


def _telling(text: str) -> list[str]:
    """Lines that stand by themselves: long enough not to be found elsewhere by chance."""
    lines = (line.strip() for line in text.splitlines())
    return [line for line in lines if len(line) >= 40 and not line.startswith(("import ", "from "))]


def _solutions(source: str) -> list[str]:
    """What is left out of an answer's cell: whole parts, and the lines that are marked."""
    found, part = [], None
    for line in source.splitlines():
        if re.search(r"# END SOLUTION", line):
            found.append("\n".join(part or []).strip())
            part = None
        elif re.search(r"# BEGIN SOLUTION", line):
            part = []
        elif part is not None:
            part.append(line)
        elif match := re.match(r"(.*?)\s*# ?SOLUTION", line):
            found.append(match[1].strip())
    return [text for text in found if len(text) >= 12]


def _cell(text: str) -> str:
    """A text in a table: a bar in a formula would end its cell."""
    return text.replace("|", "\\|")


def rubrics(name: str, questions: list[Question]) -> str:
    """The table of points and the rubrics of an assignment, in Markdown."""
    lines = [f"# {name}: points", "", "| question | points | marked |", "|---|---|---|"]
    lines += [
        f"| {q.name}{f': {q.title}' if q.title else ''} | {q.points:g} | {'by hand' if q.manual else 'by its tests'} |"
        for q in questions
    ]
    lines.append(
        f"| in all | {sum(q.points for q in questions):g} | {sum(q.points for q in questions if q.manual):g} by hand |"
    )
    if any(q.manual for q in questions):
        lines += ["", "Another complete proof earns all points; the steps are for what is not complete."]
    for q in questions:
        if q.manual:
            lines += ["", f"## {q.name}{f': {q.title}' if q.title else ''} ({q.points:g} points)", ""]
            lines += [
                "| points | for |",
                "|---|---|",
                *(f"| {points:g} | {_cell(text)} |" for points, text in q.rubric),
            ]
    return "\n".join(lines) + "\n"
