"""What Coq says: which version it is, whether it accepts a file, what a theorem rests on, whether a mistake in it is noticed."""

import functools
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from bookext.proofs import sources
from bookext.proofs.sources import Theorem

#: What a theorem may rest on, by the end of an axiom's name: the reals of Coq's library are built with these.
AXIOMS = {
    "sig_forall_dec": "those of Coq's reals",
    "sig_not_dec": "those of Coq's reals",
    "functional_extensionality_dep": "functions that agree everywhere are equal",
    "classic": "excluded middle",
}
#: What the enclosures rest on besides: the processor's integers, and that they do what they should.
MACHINE = ("PrimInt63.", "Uint63.", "PrimFloat.", "FloatAxioms.", "FloatOps.", "SpecFloat.", "CarryType.")
INTEGERS = "the processor's integers"

#: What the proofs need beside Coq's own library.
LIBRARIES = ("Coquelicot", "Interval")

#: Seconds that a step of a proof with a mistake in it may take before it counts as failed.
PATIENCE = 10


class Refused(RuntimeError):
    """Coq does not accept a file; the message is what it says."""


@functools.cache
def version() -> str:
    """Coq's version. Returns: for example "8.16.1"; empty where Coq or a library that the proofs need is missing."""
    if not shutil.which("coqc"):
        return ""
    ask = lambda *what: subprocess.run(["coqc", *what], capture_output=True, text=True).stdout.strip()
    libraries = Path(ask("-where")) / "user-contrib"
    if not all((libraries / name).is_dir() for name in LIBRARIES):
        return ""
    return re.search(r"version\s+([\d.]+)", ask("--version"))[1]


def compile_file(name: str, built: Path) -> None:
    """Compile a file of ``proofs/`` whose needs are compiled already; raise ``Refused`` if Coq does not accept it."""
    source = sources.FOLDER / name
    there = built / name
    there.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, there)
    done = subprocess.run(
        ["coqc", "-q", "-R", ".", "Shallow", name], cwd=built, capture_output=True, text=True
    )
    if done.returncode:
        raise Refused(f"proofs/{name}: {done.stderr.strip()[-2000:]}")


def assumptions(theorems: Sequence[Theorem], built: Path) -> list[str]:
    """What theorems of compiled files rest on together: asked for all at once, as Coq goes through all that lies below. Returns: names of axioms."""
    modules = sorted({one.file.removesuffix(".v").replace("/", ".") for one in theorems})
    together = ", ".join(f"@{one.file.removesuffix('.v').replace('/', '.')}.{one.name}" for one in theorems)
    told = _talk(
        f"From Shallow Require {' '.join(modules)}.\nDefinition together := ({together}, tt).\nPrint Assumptions together.\n",
        built,
    )
    if "Closed under the global context" in told:
        return []
    if "Axioms:" not in told:
        raise Refused(f"Coq does not say what the theorems rest on: {told.strip()[-500:]}")
    return re.findall(r"^([\w.]+)\s*(?:$|:)", told.partition("Axioms:")[2], re.MULTILINE)


def rests_on(axioms: Sequence[str]) -> list[str]:
    """The same in words; raises ``Refused`` for an axiom that no theorem may rest on. Returns: sorted, each once."""
    return sorted({_in_words(axiom) for axiom in axioms})


def _in_words(axiom: str) -> str:
    end = axiom.rpartition(".")[2]
    if end in AXIOMS:
        return AXIOMS[end]
    if axiom.startswith(MACHINE):
        return INTEGERS
    raise Refused(f"a theorem must rest on Coq's reals and on classical logic alone, got the axiom {axiom}")


def unnoticed(name: str, theorems: Sequence[Theorem], built: Path) -> list[str]:
    """Mistakes in the theorems of a compiled file that do not make their proofs fail, or that are no statements. Returns: one line each.

    Each proof is gone through once more, below the statement as it is, where it must succeed, and below the changed ones; what was
    proved before it is at hand.
    """
    text = (sources.FOLDER / name).read_text(encoding="utf-8")
    module = name.removesuffix(".v").replace("/", ".")
    preamble = "\n".join(
        re.findall(r"^(?:From|Require|Import|Open|Local Open)\b.*?\.\s*$", text, re.MULTILINE | re.DOTALL)
    )
    trials = [(one, mistake) for one in theorems for mistake in (None, *one.mistakes)]
    pieces = [f"{preamble}\nFrom Shallow Require Import {module}.\n"]
    for number, (one, mistake) in enumerate(trials):
        statement = one.changed(mistake) if mistake else one.formal
        named = re.sub(rf"^Theorem\s+{one.name}\b", f"Theorem trial_{number}", statement)
        limit = f"Set Default Timeout {PATIENCE}." if mistake else "Unset Default Timeout."
        pieces.append(
            f'{limit}\n{named}\nProof.\nidtac "stated {number};".\n{one.proof}\nQed.\nAbort All.\n'
            f'Goal True. let t := constr:(@trial_{number}) in idtac "proved {number};". exact I. Qed.\nAbort All.\n'
        )
    told = _talk("".join(pieces), built)
    lines = []
    for number, (one, mistake) in enumerate(trials):
        stated, proved = f"stated {number};" in told, f"proved {number};" in told
        if mistake is None and not proved:
            lines.append(
                f"{one.label}: its proof fails here without a mistake, so that it fails with one says nothing"
            )
        elif mistake and not stated:
            lines.append(f"{one.label}: {mistake.says}: no statement that Coq understands")
        elif mistake and proved:
            lines.append(f"{one.label}: {mistake.says}: Coq accepts it all the same")
    return lines


def _talk(text: str, folder: Path) -> str:
    """What Coq says to a text, going on after errors."""
    done = subprocess.run(
        ["coqtop", "-q", "-R", ".", "Shallow"], input=text, cwd=folder, capture_output=True, text=True,
        env={**os.environ, "TERM": "dumb"},
    )  # fmt: skip
    return done.stdout
