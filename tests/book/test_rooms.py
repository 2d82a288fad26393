"""What the heads of rooms say of arguments, and the picture of the rooms."""

import ast

import pytest

from bookext import rooms

HEADED = [
    room
    for row in rooms.layers()
    for room in row
    if (rooms.PACKAGE / room).is_dir() and rooms.arguments(room)
]


def test_the_picture_has_every_room():
    found = {p.stem for p in rooms.PACKAGE.iterdir() if p.suffix == ".py" or (p / "__init__.py").is_file()}
    assert {room for row in rooms.layers() for room in row} == found - {"__init__"}


@pytest.mark.parametrize("room", HEADED)
def test_what_a_head_explains_are_arguments_of_its_functions(room):
    taken = [
        {argument.arg for argument in [*node.args.args, *node.args.kwonlyargs]}
        for folder in (rooms.PACKAGE / room, rooms.THEORY / room)
        for path in folder.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef)
    ]
    explained = [name for names in rooms.arguments(room) for name in names.split(", ")]
    assert explained
    rare = [name for name in explained if sum(name in arguments for arguments in taken) < 3]
    assert rare == []
