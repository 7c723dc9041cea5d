"""Descriptions that parse but lie: one value of a JSON tree taken out or replaced, alone or inside the head of a safetensors file."""

import copy
import json

from hypothesis import strategies as st

NASTY = st.sampled_from(
    [
        None,
        True,
        -1,
        0,
        1.5,
        10**9,
        10**30,
        1e308,
        float("nan"),
        float("inf"),
        "",
        "x",
        "../x",
        "/etc/passwd",
        "a\0b",
        "\ud800",
        "x" * 5000,
    ]
) | st.sampled_from([[], {}, [[]], [None], {"a": 1}, [1, 2], [-1, "x"], [10**9, 10**9], {"__class__": "x"}])


def places(tree, path=()):
    """Every place in a tree."""
    yield path
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, child in items:
        yield from places(child, (*path, key))


def edited(tree, path, value, remove):
    """The tree with one place replaced or taken out."""
    if not path:
        return value
    tree = copy.deepcopy(tree)
    parent = tree
    for key in path[:-1]:
        parent = parent[key]
    if remove:
        del parent[path[-1]]
    else:
        parent[path[-1]] = value
    return tree


def lying(tree):
    """Trees that differ from a valid one in one place."""
    return st.builds(edited, st.just(tree), st.sampled_from(list(places(tree))), NASTY, st.booleans())


def as_bytes(tree):
    """JSON, with the halves of characters and the numbers that JSON should not have."""
    return json.dumps(tree).encode()


def split_safetensors(data):
    """(head as a tree, the description inside it as a tree, its key, the numbers after it)."""
    length = int.from_bytes(data[:8], "little")
    head = json.loads(data[8 : 8 + length])
    ((key, text),) = head["__metadata__"].items()
    return head, json.loads(text), key, data[8 + length :]


def joined_safetensors(head, numbers):
    """The file with this head."""
    text = as_bytes(head)
    return len(text).to_bytes(8, "little") + text + numbers
