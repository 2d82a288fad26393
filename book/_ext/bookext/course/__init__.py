"""The course: from one marked source an assignment's notebooks, its tests and its points; and a grader without containers.

    python -m bookext.course make [ps1 …] [--class 2026] [--check]
    python -m bookext.course decks
    python -m bookext.course grade ps1 SUBMISSIONS --out points.csv
    python -m bookext.course total ps1 points.csv

**make** reads ``book/course/assignments/ps1.md`` (or any path to a ``.md``) and writes, below ``_build/course``:

- ``student/ps1.ipynb``: no solution, no hidden test; the visible tests stand in its second cell, so that
  ``grader.check("q1")`` works where this one file was opened, in Jupyter and in Colab. ``student/assignments.zip``: all of them.
- ``instructor/ps1/``: ``ps1.ipynb`` with the solutions, ``tests/q1.py`` … visible and hidden, ``ps1-autograder.zip`` for Gradescope,
  ``questions.json`` (points, by hand or not) and ``rubric.md``. Nothing of this folder may be published.

``--class`` replaces the class in the line ``CLASS = 2026`` of the source, from which ``shallowformer.exercises.classes`` draws
the parameters. ``--check`` runs the solutions against the tests, by otter's own runner and by the grader here.

**decks**, which **make** does too if no assignments are named, writes ``decks/week1.html`` …, a deck of slides a week from the
chapters' core statements and figures, and ``figures/``, all figures with ``captions.md``. Both may be published. Figures are those
of the built site.

**grade** runs every notebook below a folder (see ``grading``: what it defends against) and writes a table of points and, beside
it, ``feedback/ps1/`` with a text a submission. Columns of questions that are marked by hand stay empty: fill them in, then **total**
adds up. Grading again keeps what was filled in, and the rows of submissions that are not in the folder now.

A source is an ``otter assign`` notebook, written as MyST: raw cells are ```` ```{raw-cell} ```` blocks.

- The first cell is the title. ``# ASSIGNMENT CONFIG`` is optional; the tool sets what it needs (tests in exception style,
  no PDF, no export cell) and inserts the cells that install, that hold the tests, and the lines on how to work.
- ``# BEGIN QUESTION`` with ``name: q1``, ``points: 12`` and, for what is marked by hand, ``manual: true``; then the text; then
  ``# BEGIN SOLUTION`` … ``# END SOLUTION`` around the answer's cells; then ``# BEGIN TESTS`` … ``# END TESTS``; ``# END QUESTION``.
  The points of every question are written below its text by the tool.
- In an answer's code cell, ``# SOLUTION`` ends a line that is left out, ``# BEGIN SOLUTION`` … ``# END SOLUTION`` a part. Outside
  of a solution block nothing is left out: that is an error here.
- A test cell is one function whose parameters are names that students define: ``def test_small(attention): …``. Names of
  functions differ within a question. A first line ``# HIDDEN`` hides it; its own points stand in otter's test config
  (``\"\"\" # BEGIN TEST CONFIG`` / ``points: 4`` / ``\"\"\" # END TEST CONFIG``), else the tests share the question's points evenly.
  A test runs in another process than the answer: what it hands over and gets back is numbers, text, None, lists, tuples,
  dicts, tensors, arrays or a ``torch.Generator``. It imports what it uses, and what fails says why: ``assert feedback.passed, feedback.told``.
- Every question with ``manual: true`` has, inside its solution block, one Markdown cell that begins with ``**Rubric**`` and lists
  ``- 3 points: what earns them``; they add up to the question's points.
- Markdown may use the book's roles and references; they become links to the site.
"""
