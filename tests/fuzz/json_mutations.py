"""Mutations of JSON values, alone or in the header of a safetensors file: one value is removed or replaced."""

import copy
import json

from hypothesis import strategies as st

HOSTILE_VALUES = st.sampled_from(
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


def paths_in_tree(tree, path=()):
    """The paths of all values in a tree."""
    yield path
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, child in items:
        yield from paths_in_tree(child, (*path, key))


def replace_value(tree, path, value, remove):
    """A copy of the tree with the value at a path replaced or removed."""
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


def mutated(tree):
    """A strategy for trees that differ from a valid one in one value."""
    return st.builds(replace_value, st.just(tree), st.sampled_from(list(paths_in_tree(tree))), HOSTILE_VALUES, st.booleans())


def to_json_bytes(tree):
    """JSON, including lone surrogates, NaN and infinity."""
    return json.dumps(tree).encode()


def split_safetensors(data):
    """(header, metadata as a tree, key of the metadata, tensor bytes)."""
    length = int.from_bytes(data[:8], "little")
    head = json.loads(data[8 : 8 + length])
    ((key, text),) = head["__metadata__"].items()
    return head, json.loads(text), key, data[8 + length :]


def join_safetensors(head, numbers):
    """The file with this header."""
    text = to_json_bytes(head)
    return len(text).to_bytes(8, "little") + text + numbers
