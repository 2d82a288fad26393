"""Runs that take longer than a chapter may: frozen configurations, one row of results each, stored in ``results/``.

``experiment`` says what an experiment is, ``registry`` which there are, ``store`` keeps rows, ``sweep`` computes what is
missing (``workers``: here, in processes, or on a Dask cluster), ``verification`` recomputes a sample, ``tables`` shows.

Throughout, unless a function says otherwise:

    config: of a row: a frozen dataclass, all that a run depends on.
    scale: "smoke", "laptop" or "paper".
    results: folder of the store; that of the repository or installation if not given.
    device: where a run computes.
    jobs: processes on this machine, one torch thread each, -1 for one a core; with one, this process and all its threads.
    scheduler: address of a Dask scheduler, e.g. ``tcp://10.0.0.1:8786``, whose workers take the place of ``jobs``.
"""

#: From what a test can afford to what the papers did.
SCALES = ("smoke", "laptop", "paper")
