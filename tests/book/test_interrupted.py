"""An execution of chapters that is told to end leaves no kernel and no file behind."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from small_book import NOTEBOOK, SmallBook

PATIENCE = 240  # seconds

SLOW = """
# Slow

```{{code-cell}} ipython3
import os
import time

with open({begun!r}, "w") as file:
    file.write(f"{{os.getpid()}} ")
time.sleep(600)
```
"""


def wait_for(condition):
    until = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < until, "waited in vain"
        time.sleep(0.2)


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_execution_leaves_nothing_behind(tmp_path, sent):
    book, begun, scratch = SmallBook(tmp_path / "book"), tmp_path / "begun", tmp_path / "scratch"
    chapter = "book/kernel_regime/recorded.md"
    book.write(chapter, NOTEBOOK + SLOW.format(begun=str(begun)))
    scratch.mkdir()
    running = subprocess.Popen(
        [sys.executable, "-m", "bookext.execute", chapter],
        cwd=book.root,
        env=book.environment | {"TMPDIR": str(scratch)},
        # What runs in a shell's background ignores Ctrl-C, and hands that down.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        wait_for(lambda: running.poll() is not None or (begun.exists() and begun.read_text().endswith(" ")))
        assert running.poll() is None
        assert any(scratch.iterdir())
        running.send_signal(sent)
        _, said = running.communicate(timeout=PATIENCE)
    finally:
        running.kill()
    assert running.returncode == 130
    assert said.endswith(
        "interrupted; finished chapters are kept, the same command goes on with the others\n"
    )
    assert "Traceback" not in said
    assert list(scratch.iterdir()) == []
    kernel = Path(f"/proc/{begun.read_text().strip()}")
    wait_for(lambda: not kernel.exists())
