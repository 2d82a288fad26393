"""The line between the grader and a student's process: messages of JSON, with bounds of size and time.

This module is read by both sides and imports nothing of the package.
"""

import json
import socket
import struct
import time

LARGEST = 16 * 2**20  # bytes of a message: taken apart, it may take a hundred times as much


class Malformed(ValueError):
    """A message that is none."""


def send(line: socket.socket, message: dict) -> None:
    """Send a message."""
    raw = json.dumps(message).encode()
    if len(raw) > LARGEST:
        raise Malformed(f"a message of {len(raw)} bytes")
    line.sendall(struct.pack(">Q", len(raw)) + raw)


def receive(line: socket.socket, seconds: float | None = None) -> dict:
    """Wait for a message, for some seconds or for ever."""
    deadline = None if seconds is None else time.monotonic() + seconds
    (size,) = struct.unpack(">Q", _read(line, 8, deadline))
    if size > LARGEST:
        raise Malformed(f"a message of {size} bytes")
    try:
        message = json.loads(_read(line, size, deadline))
    except (ValueError, RecursionError) as error:
        raise Malformed(str(error)[:200]) from None
    if not isinstance(message, dict):
        raise Malformed("no message")
    return message


def _read(line: socket.socket, size: int, deadline: float | None) -> bytes:
    parts = bytearray()
    while len(parts) < size:
        if deadline is not None:
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError
            line.settimeout(left)
        part = line.recv(min(size - len(parts), 2**20))
        if not part:
            raise ConnectionError
        parts += part
    line.settimeout(None)
    return bytes(parts)
