"""A chapter is executed again exactly when something that it depends on has changed, and no dependence escapes notice.

The chapters here are those of a tiny repository with a tiny package; their kernels are real.
"""

import json
import os
import re
import shutil
import time
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest

from bookext import closure, execute, kernel, keys, records, warm
from bookext.chapters import read_notebook

HEADER = "---\nkernelspec:\n  name: python3\n  display_name: Python 3\n---\n\n# Title\n\n"
FILES = {
    "requirements.txt": "one==1\n",
    "lib/shallowformer/__init__.py": "",
    "lib/shallowformer/verify/__init__.py": "",
    "lib/shallowformer/verify/planting.py": """
from dataclasses import dataclass
@dataclass
class Outcome:
    claim: str
    what: str
    red: bool
    seconds: float
    error: str = ""
def keep(): pass
def kept(): return {}
def plant(mistakes, full): return [Outcome("my-claim", what, red, 0.0) for what, red in mistakes.items()]
""",
    "lib/shallowformer/helper.py": "from shallowformer import deeper\n\n\ndef value():\n    return deeper.VALUE\n",
    "lib/shallowformer/deeper.py": "VALUE = 1\n",
    "lib/shallowformer/hidden.py": "VALUE = 2\n",
    "lib/shallowformer/other.py": "VALUE = 3\n",
    "results/one.json": "[1]",
    "tests/of_tests.py": "",
    "book/companion/__init__.py": "",
    "book/companion/mistakes/__init__.py": "",
    "book/companion/mistakes/room/__init__.py": "",
    "book/companion/mistakes/room/chapter.py": 'MISTAKES = {"a lost factor": True}\n',
}


class Repository:
    """A tiny repository with one chapter, and what its kernels are forked from."""

    def __init__(self, root: Path, parent: warm.Parent | None) -> None:
        self.root, self.chapter, self.parent = root, root / "book/room/chapter.md", parent
        for name, text in FILES.items():
            self.write(name, text)

    def write(self, name: str, text: str) -> None:
        """Write a file as if that had been a while ago."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        os.utime(path, (1e9, 1e9))

    def say(self, *cells: str, prose: str = "") -> None:
        """Write the chapter."""
        code = "\n\n".join(f"```{{code-cell}} ipython3\n{cell}\n```" for cell in cells)
        self.write("book/room/chapter.md", f"{HEADER}{prose}\n\n{code}\n")

    def run(self, cold: bool = False) -> kernel.Run:
        """Execute the chapter and keep what came out; cold: by a kernel that starts by itself."""
        done = kernel.run(self.chapter, parent=None if cold else self.parent)
        if done.record:
            records.keep(done.record)
        return done

    def known(self, full: bool = False, cold: bool = False) -> bool:
        """Whether an execution counts today."""
        closure.fingerprint.cache_clear()
        closure._imported_by.cache_clear()
        keys.environment.cache_clear()
        return execute.current(self.chapter, full, cold)[0] is not None


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Where the repository of every test is."""
    return tmp_path_factory.mktemp("tiny") / "repository"


def start_up(place, patch):
    """The environment of kernels there."""
    extension = Path(kernel.__file__).parents[1]
    patch.setenv("PYTHONPATH", os.pathsep.join([str(place / "lib"), str(place / "book"), str(extension)]))


@pytest.fixture(scope="module")
def parent(place):
    """What kernels are forked from, for all tests: each imports what it forks from once, and a test is a fork."""
    with pytest.MonkeyPatch.context() as patch:
        start_up(place, patch)
        patch.setenv("OMP_NUM_THREADS", "1")
        patch.delenv("MPLBACKEND", raising=False)
        with warm.parent() as started:
            yield started


@pytest.fixture
def repository(place, parent, tmp_path, monkeypatch):
    root = place
    for module in (keys, records, kernel, execute):
        monkeypatch.setattr(module, "ROOT", root)
    monkeypatch.setattr(records, "HERE", root / "_build/executed")
    monkeypatch.setattr(keys, "STARTED", 3e9)  # what a test writes was there before
    monkeypatch.setattr(closure, "PACKAGES", {"shallowformer": root / "lib", "companion": root / "book"})
    monkeypatch.setenv("SHALLOWFORMER_CACHE", str(tmp_path / "cache"))
    start_up(root, monkeypatch)
    keys.environment.cache_clear()
    yield Repository(root, parent)
    keys.environment.cache_clear()
    shutil.rmtree(root)


IMPORTS = "from shallowformer import helper\nprint(helper.value())"
READS = f"from pathlib import Path\nprint(Path('../../results/one.json').read_text())\n{IMPORTS}"


@pytest.fixture(scope="module")
def first():
    """The record of the first execution, for all tests that begin with one."""
    return []


@pytest.fixture
def ran(repository, first):
    """The repository, its chapter executed."""
    repository.say(READS)
    if not first:
        done = repository.run()
        assert done.error == ""
        first.append(done.record)
    records.keep(first[0])
    assert repository.known()
    return repository


def test_what_was_printed_and_read_is_recorded(ran):
    (record, foreign) = execute.current(ran.chapter)
    assert [output["text"] for outputs in record.outputs for output in outputs] == ["[1]\n1\n"]
    assert list(record.read) == ["results/one.json"]
    assert not foreign
    assert record.seconds > 0
    assert 0 < record.gigabytes < 1


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("lib/shallowformer/helper.py", "def value():\n    return 7\n"),
        ("lib/shallowformer/deeper.py", "VALUE = 8\n"),
        ("lib/shallowformer/__init__.py", "import os\n"),
        ("lib/shallowformer/verify/__init__.py", "x = 1\n"),
        ("results/one.json", "[2]"),
        ("requirements.txt", "one==2\n"),
        ("book/companion/mistakes/room/chapter.py", "MISTAKES = {}\n"),
    ],
)
def test_a_change_of_what_it_depends_on_makes_a_chapter_stale(ran, name, text):
    before = (ran.root / name).read_text()
    ran.write(name, text)
    assert not ran.known()
    ran.write(name, before)
    assert ran.known()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("lib/shallowformer/other.py", "VALUE = 9\n"),
        ("lib/shallowformer/deeper.py", '"""Says more now."""\n\n# and here\nVALUE   =   1\n'),
        ("results/two.json", "[2]"),
        ("book/companion/mistakes/room/another.py", "MISTAKES = {}\n"),
    ],
)
def test_a_change_of_what_it_does_not_depend_on_does_not(ran, name, text):
    ran.write(name, text)
    assert ran.known()


def test_prose_is_free_and_code_is_not(ran):
    ran.say(READS, prose="More words.")
    assert ran.known()
    ran.say(READS + "\nprint(2)")
    assert not ran.known()


def test_what_plants_mistakes_is_part_of_the_key():
    assert any(file.name == "planting.py" for file in keys.mistakes_modules("book/kernel_regime/model"))


def test_another_python_or_processor_knows_nothing(ran, monkeypatch):
    monkeypatch.setattr(keys, "processor", lambda: "another")
    assert not ran.known()


# Attacks: a dependence that reading the chapter does not show.


@pytest.mark.parametrize(
    "code",
    [
        "name = ''.join(reversed('nosj.eno'))\nprint(open(f'../../results/{name}').read())",
        "import pathlib\nprint([p.read_text() for p in pathlib.Path('../../results').glob('*.json')])",
        "exec(open('../../results/one.json').read())",
    ],
    ids=["a computed name", "whatever is in the folder", "executed"],
)
def test_a_file_opened_by_a_name_that_nobody_can_read_off_is_noticed(repository, code):
    repository.say(code)
    assert repository.run().error == ""
    assert repository.known()
    repository.write("results/one.json", "[3]")
    assert not repository.known()


def test_a_new_file_in_a_folder_that_was_listed_is_noticed(repository):
    repository.say("import os\nprint(sorted(os.listdir('../../results')))")
    assert repository.run().error == ""
    repository.write("results/two.json", "[2]")
    assert not repository.known()


@pytest.mark.parametrize(
    "code",
    [
        "import importlib\nimportlib.import_module('shallow' + 'former.hid' + 'den')",
        "import builtins, sys\nright = builtins.__import__\n"
        "builtins.__import__ = lambda name, *more: right(name.replace('helper', 'hidden'), *more)\nimport shallowformer.helper",
        "import importlib.util\nspec = importlib.util.spec_from_file_location('x', '../../lib/shallowformer/hidden.py')\n"
        "spec.loader.exec_module(importlib.util.module_from_spec(spec))",
        "import sys\nsys.path.insert(0, '../../tests')\nimport of_tests",
    ],
    ids=["computed", "patched", "by its file", "from elsewhere"],
)  # fmt: skip
def test_a_module_that_the_imports_do_not_show_is_an_error(repository, code):
    repository.say(code)
    done = repository.run()
    assert done.record is None
    assert "which its imports do not show" in done.error


def test_a_module_beside_the_chapter_cannot_be_imported(repository):
    repository.write("book/room/beside.py", "VALUE = 1\n")
    repository.say("import beside")
    assert "ModuleNotFoundError" in repository.run().error


def test_a_process_is_an_error_as_nobody_sees_what_it_opens(repository):
    repository.say("import subprocess\nsubprocess.run(['true'])")
    assert "starts a process" in repository.run().error


def test_figures_can_be_drawn_where_no_program_has_drawn_before(repository, tmp_path, monkeypatch):
    asked = tmp_path / "bin/fc-list"
    asked.parent.mkdir()
    asked.write_text("#!/bin/sh\nexit 0\n", encoding="utf-8")
    asked.chmod(0o755)
    monkeypatch.setenv("PATH", str(asked.parent), prepend=os.pathsep)
    monkeypatch.setenv("MPLCONFIGDIR", str(tmp_path / "fonts"))
    repository.say("import matplotlib.pyplot\nimport shallowformer")
    assert repository.run(cold=True).error == ""


def test_a_file_outside_of_the_repository_is_an_error(repository, tmp_path, monkeypatch):
    (tmp_path / "elsewhere").write_text("x")
    monkeypatch.setattr(keys, "_OPEN", tuple(folder for folder in keys._OPEN if not tmp_path.is_relative_to(folder)))  # fmt: skip
    repository.say(f"open({str(tmp_path / 'elsewhere')!r}).read()")
    assert "outside of the repository" in repository.run().error


def test_a_chapter_that_writes_is_an_error(repository):
    repository.say("open('../../results/one.json', 'a').write(' ')")
    assert "writes" in repository.run().error


def test_what_changes_while_a_chapter_runs_is_not_kept(repository):
    repository.write("lib/shallowformer/helper.py", "VALUE = 1\n")
    os.utime(repository.root / "lib/shallowformer/helper.py", (4e9, 4e9))
    repository.say("from shallowformer import helper")
    assert "helper.py changed while the chapter ran" in repository.run().error


def test_code_that_changes_after_it_was_read_for_the_key_is_not_kept(repository, monkeypatch):
    """As when a branch is switched while other chapters run."""
    monkeypatch.setattr(keys, "STARTED", time.time())
    repository.write(
        "lib/shallowformer/helper.py", "VALUE = 1\n"
    )  # its time is said to be long ago, as after a copy
    repository.say("from shallowformer import helper")
    assert "helper.py changed while the chapter ran" in repository.run().error


def test_a_package_of_this_name_from_somewhere_else_is_an_error(repository, tmp_path, monkeypatch):
    there = tmp_path / "other/shallowformer"
    shutil.copytree(repository.root / "lib/shallowformer", there)
    monkeypatch.setenv("PYTHONPATH", f"{there.parent}{os.pathsep}{os.environ['PYTHONPATH']}")
    repository.say("from shallowformer import helper")
    assert "which belongs neither to Python nor to this repository" in repository.run(cold=True).error


def test_a_failing_cell_is_named(repository):
    repository.say("assert 1 == 2, 'one is not two'")
    done = repository.run()
    assert (done.record, done.error) == (None, "AssertionError: one is not two")


def test_what_is_printed_slowly_stands_in_one_piece(repository):
    repository.say(
        "import sys, time\nfor k in range(3):\n    print(k, flush=True)\n    time.sleep(0.3)\nprint('!', file=sys.stderr)"
    )
    (printed, warned) = repository.run().record.outputs[0]
    assert (printed.text, warned.text) == ("0\n1\n2\n", "!\n")


def test_a_hungry_chapter_is_stopped(repository, monkeypatch):
    monkeypatch.setattr(kernel, "GIGABYTES", 0.001)
    repository.say("1")
    assert "GB of memory" in repository.run().error


# Mistakes.


def test_mistakes_are_planted_where_the_chapter_ran(repository):
    repository.say(IMPORTS)
    record = repository.run().record
    (mistake,) = record.mistakes
    assert (mistake["what"], mistake["red"]) == ("a lost factor", True)
    assert record.planting > 0
    assert repository.known()
    assert not repository.known(full=True)


def test_a_mistake_that_no_check_noticed_is_named(repository):
    repository.say(IMPORTS)
    repository.write("book/companion/mistakes/room/chapter.py", 'MISTAKES = {"another": False}\n')
    done = repository.run()
    assert execute.unnoticed([done]) == ["my-claim stays green although: another"]


def test_a_chapter_without_mistakes_has_none(repository):
    shutil.rmtree(repository.root / "book/companion/mistakes")
    repository.say(IMPORTS)
    assert repository.run().record.mistakes == []


# Kernels that start warm.

#: What it prints must not tell how the kernel has started.
TELLTALE = [
    READS,
    "import sys\nprint(sorted(m for m in sys.modules if m.startswith(('shallowformer', 'companion'))))\nprint(sys.path, sys.argv[3:])",
    "import os\nprint(os.getcwd(), os.environ['MPLBACKEND'], os.getpgid(0) == os.getpid(), __name__, sys.modules['__main__'].__dict__ is globals())",
    "import torch\nprint(torch.get_num_threads(), torch.get_default_dtype())",
    "import seaborn\nseaborn.set_theme()\nimport matplotlib.pyplot as plt\nprint(plt.get_backend())\nplt.plot([1, 2])\nplt.show()",
    "plt.hist([1, 2, 2])",
    "1 + 1",
    "import warnings\nfor kind in (DeprecationWarning, UserWarning):\n    warnings.warn('of its own', kind)",
]  # fmt: skip


needs_fork = pytest.mark.skipif(not warm.POSSIBLE, reason="here every kernel starts by itself")


def printed(record: records.Record) -> list:
    """What a chapter printed and drew, without the number of its process."""
    return json.loads(re.sub(r"ipykernel_\d+/\d+", "", json.dumps(record.outputs)))


@needs_fork
def test_a_warm_kernel_gives_what_one_that_starts_by_itself_does(repository, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    repository.say(*TELLTALE)
    cold = repository.run(cold=True).record
    once, again = (repository.run().record for _ in range(2))
    repository.say(
        "import sys\nassert 'torch' in sys.modules\nimport random, numpy, torch\nprint(random.random(), numpy.random.rand(), torch.rand(1).item())"
    )
    drawn = [repository.run().record.outputs[0][0]["text"].split() for _ in range(2)]
    assert len(os.listdir(f"/proc/{repository.parent.process.pid}/task")) == 1
    assert printed(once) == printed(again) == printed(cold)
    assert once.read == again.read == cold.read
    assert once.key == cold.key
    assert once.gigabytes <= cold.gigabytes
    assert len({*drawn[0], *drawn[1]}) == 6, "random numbers of a fork are its own"


@needs_fork
def test_a_kernel_that_dies_is_named_and_takes_no_other_with_it(repository, monkeypatch):
    with warm.parent() as repository.parent:
        repository.say("import os\nos._exit(3)")
        assert "died" in repository.run().error
        monkeypatch.setattr(kernel, "PATIENCE", 2)
        repository.say("import time\ntime.sleep(100)")
        assert "timed out" in repository.run().error
        repository.say("1 / 0")
        assert "ZeroDivisionError" in repository.run().error
        repository.say(IMPORTS)
        assert repository.run().error == ""
        repository.say(
            "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)\nimport time\ntime.sleep(100)"
        )
        assert "died" in repository.run().error
        assert "has died" in repository.run().error


# What is kept between checkouts.


def test_another_checkout_takes_what_was_kept_unless_it_is_cold(ran):
    records_here = records.HERE / "book/room/chapter"
    for file in records_here.iterdir():
        file.unlink()
    record, foreign = execute.current(ran.chapter)
    assert record.outputs
    assert foreign
    assert not ran.known(cold=True)


def test_of_each_chapter_a_few_executions_are_kept(repository, monkeypatch):
    monkeypatch.setattr(records, "MOST", 2)
    for number in range(3):
        repository.say(f"print({number})")
        repository.run()
    assert len(list((records.user_cache() / "book/room/chapter").glob("*.json"))) == 2
    assert len(list((records.HERE / "book/room/chapter").glob("*.json"))) == 1


def test_a_damaged_record_is_no_record(ran):
    for folder in (records.HERE, records.user_cache()):
        for file in (folder / "book/room/chapter").iterdir():
            file.write_text(file.read_text()[:-40])
    assert not ran.known()


def test_a_cache_that_cannot_be_written_to_does_no_harm(repository, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("SHALLOWFORMER_CACHE", str(tmp_path / "file"))
    repository.say("1")
    assert repository.run().error == ""
    assert repository.known()


def bring_up_to_date(repository, **options):
    closure.fingerprint.cache_clear()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(warm, "parent", lambda: nullcontext(repository.parent))
        return execute.bring_up_to_date([repository.chapter], 1, **options)


def test_what_comes_from_the_cache_is_repeated_now_and_then_and_must_agree(ran, monkeypatch, capsys):
    monkeypatch.setenv("THE_WEATHER", "fair")
    ran.say("import os\nfrom IPython.display import publish_display_data as show\n"
            f"show({{'text/plain': 'x'}}, metadata={{{execute.MIME!r}: {{**{ENTRY!r}, 'headline': os.environ['THE_WEATHER'],"
            " 'verdict': os.environ['THE_WEATHER']}})")  # fmt: skip
    runs, disagreements = bring_up_to_date(ran)
    assert (len(runs), disagreements) == (1, [])
    runs, disagreements = bring_up_to_date(ran)
    assert "1 of 1 chapters as kept, 0 repeated, 0 to run" in capsys.readouterr().out
    for file in (records.HERE / "book/room/chapter").iterdir():
        file.unlink()
    monkeypatch.setenv("THE_WEATHER", "foul")
    runs, disagreements = bring_up_to_date(ran)
    assert disagreements == ["kr-lemma-1: verdict is 'foul', the ledger says 'fair'"]
    assert not ran.known()  # no one knows which of them is right


def test_what_came_from_the_cache_does_not_count_in_the_cold(ran, monkeypatch):
    for file in (records.HERE / "book/room/chapter").iterdir():
        file.unlink()
    monkeypatch.setattr(execute, "REPEATED", 0)
    assert execute.current(ran.chapter, here=True)[0] is None
    bring_up_to_date(ran)
    assert execute.current(ran.chapter, here=True)[0]
    assert not ran.known(cold=True)


# A run of several chapters.


def test_the_longest_chapter_begins_first_and_the_run_says_what_it_took(repository, monkeypatch, capsys):
    paths = {}
    for name, calls in (("short", 1), ("known", 0), ("long", 30), ("failing", 2)):
        repository.say(*["verify.identity()"] * calls)
        paths[name] = repository.chapter.rename(repository.chapter.with_stem(name))
    repository.write("book/room/known_supplement.md", HEADER)

    def executed(path, full=False, parent=None):
        begun.append(path.stem)
        record = records.Record(
            chapter=f"book/room/{path.stem}",
            key=keys.key(f"book/room/{path.stem}", execute.code(path)),
            read={}, outputs=[], seconds=30.0, planting=2.0, gigabytes=0.5, mistakes=[], checks={},
        )  # fmt: skip
        return kernel.Run(record.chapter, None if path.stem == "failing" else record, "broken")

    begun = []
    records.keep(replace(executed(paths["known"]).record, key="of another day", seconds=10.0))
    begun.clear()
    monkeypatch.setattr(execute, "run", executed)
    monkeypatch.setattr(warm, "POSSIBLE", False)
    runs, _ = execute.bring_up_to_date(list(paths.values()), 1, cold=True)
    assert begun == ["long", "known", "failing", "short"]
    assert [Path(one.chapter).name for one in runs] == list(paths)
    said = capsys.readouterr().out
    assert "long takes more than its 25 s" in said
    assert "known takes more" not in said  # it has a supplement
    assert "FAILED book/room/failing: broken" in said
    (last,) = re.findall(r"^4 of 4 chapters executed .*$", said, re.MULTILINE)
    assert "96 s of processor time, 6 of them for planted mistakes" in last
    execute.bring_up_to_date([paths["long"]], 1, cold=True)  # as 'make test' does after 'make book'
    assert capsys.readouterr().out == "1 of 1 chapters as kept, 0 repeated, 0 to run\n"


ENTRY = {
    "claim": "kr-lemma-1",
    "kind": "identity",
    "expectation": "holds",
    "summary": "",
    "measured": {},
    "budget": {},
    "notices": {"what": "value", "change": 1e-9},
    "because": "",
    "support": "proved",
    "finding": "",
}


def test_the_draw_of_what_is_repeated_depends_on_the_commit_alone(monkeypatch):
    paths = [Path(f"/book/{k}.md") for k in range(9)]
    commit = ["a"]
    monkeypatch.setattr(execute.subprocess, "run", lambda *_, **__: type("Done", (), {"stdout": commit[0]}))
    first = execute.repeated(paths)
    assert len(first) == execute.REPEATED
    assert execute.repeated(paths[::-1]) == first
    draws = set()
    for commit[0] in "abcdefgh":
        draws.add(frozenset(execute.repeated(paths)))
    assert len(draws) > 3
    assert execute.repeated(paths[:1]) == {paths[0]}


def test_the_builder_gets_the_outputs_and_loses_those_of_old_code_only(ran, monkeypatch):
    monkeypatch.setattr(execute, "CACHE", ran.root / "_build/.jupyter_cache")
    ran.say("print('first')")
    execute.fill_builder_cache([ran.run()])
    first = execute.get_cache(execute.CACHE).list_cache_records()
    execute.fill_builder_cache([ran.run()])
    assert [r.pk for r in execute.get_cache(execute.CACHE).list_cache_records()] == [r.pk for r in first]
    ran.say("print('second')")
    execute.fill_builder_cache([ran.run()])
    (now,) = execute.get_cache(execute.CACHE).list_cache_records()
    assert now.pk != first[0].pk
    _, notebook = execute.get_cache(execute.CACHE).merge_match_into_notebook(read_notebook(ran.chapter))
    assert json.dumps(notebook.cells).count("second") == 2


def test_a_chapter_that_is_edited_while_others_run_is_run_again(repository):
    repository.say("print('first')")
    done = repository.run()
    assert execute.edited([done]) == []
    repository.say("print('second')")
    assert execute.edited([done]) == ["book/room/chapter"]


def test_a_supplement_goes_on_in_the_session_of_its_chapter_and_gets_its_own_outputs(repository, monkeypatch):
    monkeypatch.setattr(execute, "CACHE", repository.root / "_build/.jupyter_cache")
    repository.say("x = 1", "print('of the chapter')")
    name = "book/room/chapter_supplement.md"
    repository.write(name, f"{HEADER}```{{code-cell}} ipython3\nprint('goes on with', x)\n```\n")
    done = repository.run()
    assert done.chapter == "book/room/chapter"
    execute.fill_builder_cache([done])
    cache = execute.get_cache(execute.CACHE)
    for path, said in ((repository.chapter, "of the chapter"), (repository.root / name, "goes on with 1")):
        _, page = cache.merge_match_into_notebook(read_notebook(path))
        printed = [output.text for cell in page.cells for output in cell.get("outputs", ())]
        assert printed == [f"{said}\n"]
    repository.write(name, f"{HEADER}```{{code-cell}} ipython3\nprint('goes on as', x)\n```\n")
    assert not repository.known()


@pytest.mark.parametrize("text", ["0/3", "4/3", "2", "a/b", ""])
def test_a_share_must_be_one(text):
    with pytest.raises(execute.argparse.ArgumentTypeError, match="must read K/N"):
        execute._share(text)


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("import a.b as c", {"a.b"}),
        ("from a import b, c", {"a", "a.b", "a.c"}),
        ("def f():\n    from a.b import c", {"a.b", "a.b.c"}),
        ("from . import b", {"room", "room.b"}),
        ("from ..x import y", {"x", "x.y"}),
    ],
)
def test_imports_are_read_wherever_they_stand(source, names):
    assert closure.imported(source, "room.module") == names
