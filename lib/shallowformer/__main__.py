"""The command line: list, run, show and verify experiments; print the claims of the ledger."""

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from shallowformer.experiments import SCALES, registry, store

#: What a claim can be chosen by: ``report.FIELDS``, without loading torch.
CLAIM_FIELDS = ("paper", "kind", "verdict", "support")

EPILOG = """\
examples:
  python -m shallowformer list
  python -m shallowformer run certificates --scale laptop --jobs 4
  python -m shallowformer run certificates --scale paper --dask tcp://10.0.0.1:8786
  python -m shallowformer run certificates --scale smoke --results trial
  python -m shallowformer run my_module:EXPERIMENT --results here
  python -m shallowformer show certificates
  python -m shallowformer verify certificates --share 0.05
  python -m shallowformer claims --paper arda2026 --verdict tight sequence length
  python -m shallowformer claims --as json > claims.json

A run that is stopped, however, keeps its finished rows; the same command goes on with the others.

exit codes: 0 all is well; 1 a row failed or differs, or rows cannot be read, written or computed;
2 a mistake on the command line; 130 interrupted
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; its arguments are those of this process if not given. Returns: the exit code."""
    options = _parser().parse_args(arguments)
    try:
        return options.command(options)
    except registry.Unknown as error:
        return _complain(error, 2)
    except store.StoreError as error:
        return _complain(error, 1)
    except BrokenPipeError:  # the reader of our output, e.g. head, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        return _complain(
            f"cannot write or read{where}: {error.strerror or error}. Stored rows are intact; make room, or name another "
            "folder with --results, and run again",
            1,
        )
    except KeyboardInterrupt:
        return _complain("interrupted; finished rows are kept, the same command goes on with the others", 130)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m shallowformer",
        description="Experiments on shallow Transformers: sweeps that are stored row by row, resumed and verified.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(
        title="commands", metavar="list | run | show | verify | claims", required=True
    )

    def command(name: str, function, help: str) -> argparse.ArgumentParser:
        sub = commands.add_parser(name, help=help, description=f"{help[0].upper()}{help[1:]}.")
        sub.set_defaults(command=function)
        return sub

    def named(sub: argparse.ArgumentParser) -> None:
        sub.add_argument("name", metavar="NAME", help="of an experiment, or module:NAME of one of your own")
        sub.add_argument(
            "--results",
            type=Path,
            metavar="DIR",
            help=f"folder of the stored rows (default: {store.folder()})",
        )

    def workers(sub: argparse.ArgumentParser) -> None:
        sub.add_argument(
            "--device", default="cpu", help="torch device of each row: cpu, cuda, cuda:1 (default: cpu)"
        )
        sub.add_argument(
            "--jobs",
            type=_jobs,
            default=1,
            metavar="N",
            help="processes of one thread each (default: 1, with all threads; -1: one a core)",
        )
        sub.add_argument(
            "--dask", metavar="ADDRESS", help="compute on the workers of this Dask scheduler instead"
        )
        sub.add_argument("--quiet", action="store_true", help="no progress bar")

    command("list", _list, "list the experiments")
    run = command("run", _run, "compute the rows of an experiment that are not stored yet")
    named(run)
    run.add_argument("--scale", choices=SCALES, default="laptop", help="how much (default: laptop)")
    workers(run)
    run.add_argument("--traceback", action="store_true", help="for rows that fail, show where")
    named(command("show", _show, "show the stored rows of an experiment, and count the missing ones"))
    verify = command("verify", _verify, "recompute a random sample of stored rows and compare")
    named(verify)
    verify.add_argument("--share", type=float, default=0.05, help="of the rows, at least one (default: 0.05)")
    verify.add_argument("--seed", type=int, help="of the sample (default: another one every time)")
    workers(verify)
    claims = command("claims", _claims, "print the claims of a ledger: the book's, or a file of your own")
    claims.add_argument("words", nargs="*", metavar="WORD", help="that must occur in a claim")
    for field in CLAIM_FIELDS:
        claims.add_argument(f"--{field}", help=f"only claims of this {field}")
    claims.add_argument(
        "--as", dest="format", default="text", help="text (the default), markdown or json", metavar="FORMAT"
    )
    claims.add_argument("--file", type=Path, help="a ledger (default: the book's)")
    return parser


def _claims(options: argparse.Namespace) -> int:
    from shallowformer.verify import ledger, report

    file = options.file or store.folder() / "ledger.json"
    if not file.is_file():
        return _complain(f"--file must name a ledger, and there is none at {file}", 1)
    try:
        entries = ledger.read(file)
    except ValueError as error:
        return _complain(error, 1)
    if options.format not in report.FORMATS:
        return _complain(f"--as must be one of {', '.join(report.FORMATS)}, got {options.format!r}", 2)
    found = report.chosen(
        entries, " ".join(options.words), **{field: getattr(options, field) for field in CLAIM_FIELDS}
    )
    print(report.written(found, options.format))
    return 0


def _list(options: argparse.Namespace) -> int:
    width = max(map(len, registry.EXPERIMENTS))
    for name, entry in sorted(registry.EXPERIMENTS.items()):
        print(f"{name:<{width}}  {entry.title}")
    return 0


def _run(options: argparse.Namespace) -> int:
    from shallowformer.experiments import sweep, workers

    experiment, device = registry.get(options.name), _device(options)
    _scheduler(options)
    try:
        report = sweep.run(
            experiment,
            options.scale,
            options.results,
            device=device,
            jobs=options.jobs,
            scheduler=options.dask,
            progress=not options.quiet,
        )
    except workers.Unavailable as error:
        return _complain(error, 1)
    print(
        f"{experiment.name} at scale {options.scale}: {report.planned} rows planned, {report.before} stored before, "
        f"{report.computed} computed, {len(report.failed)} failed"
        + (
            "; stored rows stay, though compute may have changed (see verify)"
            if report.before == report.planned
            else ""
        )
    )
    if report.lacking:
        print(
            f"stored rows lack {', '.join(report.lacking)}, which compute returns today; to compute them anew, move "
            f"{store.path(experiment.name, options.results)} away",
            file=sys.stderr,
        )
    for outcome in report.failed:
        print(f"failed: {outcome.config}: {outcome.error}", file=sys.stderr)
        if options.traceback:
            print(outcome.trace, file=sys.stderr)
    return 1 if report.failed else 0


def _show(options: argparse.Namespace) -> int:
    from shallowformer.experiments import tables

    print(tables.show(registry.get(options.name), options.results))
    return 0


def _verify(options: argparse.Namespace) -> int:
    import random

    from tqdm import tqdm

    from shallowformer.experiments import verification, workers

    experiment, device = registry.get(options.name), _device(options)
    _scheduler(options)
    if not 0 < options.share <= 1:
        return _complain(f"--share must be in (0, 1], got {options.share:g}", 2)
    seed = random.randrange(2**32) if options.seed is None else options.seed
    confirmed = different = 0
    try:
        for compared in verification.verify(
            experiment,
            options.share,
            seed,
            options.results,
            device=device,
            jobs=options.jobs,
            scheduler=options.dask,
            progress=not options.quiet,
        ):
            confirmed, different = (
                confirmed + (not compared.differences),
                different + bool(compared.differences),
            )
            tqdm.write(f"{'differs' if compared.differences else 'confirmed'}: {compared.config}")
            for line in compared.differences:
                tqdm.write(f"  {line}")
            sys.stdout.flush()  # the next row may take long
    except workers.Unavailable as error:
        return _complain(error, 1)
    if not confirmed + different:
        return _complain(
            f"nothing that {experiment.name} plans is stored: there is nothing to verify (see show {options.name})",
            1,
        )
    print(f"{confirmed} of {confirmed + different} rows confirmed (--share {options.share:g} --seed {seed})")
    return 1 if different else 0


def _device(options: argparse.Namespace):
    """The device, if this machine or, with Dask, another one has it."""
    import torch

    try:
        device = torch.device(options.device)
    except RuntimeError as error:
        raise SystemExit(
            _complain(f"--device must name a torch device, got {options.device!r}: {error}", 2)
        ) from None
    if device.type == "cuda" and not torch.cuda.is_available() and options.dask is None:
        raise SystemExit(_complain("--device cuda: torch finds no CUDA device here", 2))
    return device


def _scheduler(options: argparse.Namespace) -> None:
    """Refuse an address that is none."""
    from shallowformer.experiments import workers

    if options.dask is not None:
        try:
            workers.address(options.dask)
        except ValueError as error:
            raise SystemExit(_complain(f"--dask: {error}", 2)) from None


def _jobs(text: str) -> int:
    try:
        jobs = int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a whole number, got {text!r}") from None
    if jobs == 0 or jobs < -1:
        raise argparse.ArgumentTypeError(f"must be at least 1, or -1 for one a core, got {jobs}")
    return jobs


def _complain(what: object, code: int) -> int:
    print(f"shallowformer: {what}", file=sys.stderr)
    return code


if __name__ == "__main__":
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")  # where it cannot say ητ
    for ends in {"SIGTERM", "SIGHUP"} & set(dir(signal)):  # as an interrupt does, so that workers end with us
        if signal.getsignal(number := getattr(signal, ends)) is signal.SIG_DFL:  # nohup ignores one of them
            signal.signal(number, signal.default_int_handler)
    sys.exit(main())
