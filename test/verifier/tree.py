"""RFC 6962 trees, and the proof of many leaves at once of docs/evidence-bundle.md."""

import hashlib
from bisect import bisect_left


def sha256(data):
    return hashlib.sha256(data).digest()


def leaf_hash(data):
    return sha256(b"\0" + data)


def node_hash(left, right):
    return sha256(b"\1" + left + right)


EMPTY = sha256(b"")


def split(width):
    return 1 << (width - 1).bit_length() - 1


def root(leaves):
    """Section 2.1 as it is written."""
    if not leaves:
        return EMPTY
    if len(leaves) == 1:
        return leaves[0]
    k = split(len(leaves))
    return node_hash(root(leaves[:k]), root(leaves[k:]))


def path(index, leaves):
    """Section 2.1.1 as it is written."""
    if len(leaves) == 1:
        return []
    k = split(len(leaves))
    if index < k:
        return path(index, leaves[:k]) + [root(leaves[k:])]
    return path(index - k, leaves[k:]) + [root(leaves[:k])]


def subproof(first, leaves, is_old_root=True):
    """Section 2.1.2 as it is written."""
    if first == len(leaves):
        return [] if is_old_root else [root(leaves)]
    k = split(len(leaves))
    if first <= k:
        return subproof(first, leaves[:k], is_old_root) + [root(leaves[k:])]
    return subproof(first - k, leaves[k:], False) + [root(leaves[:k])]


def roots_at(leaves, sizes):
    """The roots of the first n leaves for ascending n, each leaf hashed once."""
    stack, done, found = [], 0, {}
    for size in sizes:
        for leaf in leaves[done:size]:
            width, node = 1, leaf
            while stack and stack[-1][0] == width:
                node = node_hash(stack.pop()[1], node)
                width *= 2
            stack.append((width, node))
        done = max(done, size)
        total = None
        for _, node in reversed(stack):
            total = node if total is None else node_hash(node, total)
        found[size] = EMPTY if total is None else total
    return found


def cover_root(positions, leaves, proof, size):
    """The root from some leaves and the hashes of the largest subtrees without any; None when the proof does not fit."""
    if size == 0:
        return EMPTY if not proof and not positions else None
    rest = list(reversed(proof))

    def visit(start, end, low, high):
        if low == high:
            return rest.pop()
        if end - start == 1:
            return leaves[low]
        middle = start + split(end - start)
        cut = bisect_left(positions, middle, low, high)
        left = visit(start, middle, low, cut)
        return node_hash(left, visit(middle, end, cut, high))

    try:
        found = visit(0, size, 0, len(positions))
    except IndexError:
        return None
    return None if rest else found


def is_consistent(first, first_root, second, second_root, proof):
    """RFC 9162 section 2.1.4.2."""
    if first > second or (first == 0 and first_root != EMPTY):
        return False
    if first == second:
        return not proof and first_root == second_root
    if first == 0:
        return not proof
    nodes = list(proof)
    if first & (first - 1) == 0:
        nodes.insert(0, first_root)
    if not nodes:
        return False
    own, last = first - 1, second - 1
    while own & 1:
        own, last = own >> 1, last >> 1
    old = new = nodes[0]
    for node in nodes[1:]:
        if last == 0:
            return False
        if own & 1 or own == last:
            old, new = node_hash(node, old), node_hash(node, new)
            while own & 1 == 0 and own != 0:
                own, last = own >> 1, last >> 1
        else:
            new = node_hash(new, node)
        own, last = own >> 1, last >> 1
    return last == 0 and old == first_root and new == second_root
