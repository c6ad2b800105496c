"""What solvers know in advance: which joints feel each other, which rows are felt where, and where results go."""

import numpy as np

from ._compiled import fields as f
from ._tables import Tables


def virtual_work(tables: Tables) -> None:
    """Add the pattern of the assembly of partial chains."""
    bodies, counts = tables.bodies, tables.counts
    nb = len(bodies)
    children: list[list[int]] = [[] for _ in bodies]
    for i in range(1, nb):
        children[bodies[i].parent].append(i)
    links = [[j for j in (p, *children[p]) if counts[j]] if p else [] for p in range(nb)]
    near: list[list[int]] = [[] for _ in bodies]
    for joints in links:
        for k, j in enumerate(joints):
            near[j] += joints[:k]
    slots = {pair: n for n, pair in enumerate((i, j) for i in range(nb) for j in near[i])}
    fill = [
        [0 if a == b else slots[max(a, b), min(a, b)] for k, a in enumerate(own) for b in own[: k + 1]] for own in near
    ]
    tables.lists(f.NEAR, f.NEARS, near)
    tables.lists(f.FILL, f.FILLS, fill)
    tables.lists(f.LINK, f.LINKS, links)
    # rows felt at bodies, then at joints
    at: list[set[int]] = [set() for _ in range(2 * nb)]
    for r, row in enumerate(tables.rows):
        for b in row.bodies:
            if b:
                at[b].add(r)
                for j in links[b]:
                    at[nb + j].add(r)
    for i in range(nb - 1, 0, -1):
        for j in near[i]:
            at[nb + j] |= at[nb + i]
    _nodes(tables, at, [*links, *near], [nb] * (2 * nb))
    tables.rooms(
        {
            f.AT_HALF_J: 36 * nb,
            f.AT_HALF_P: 36 * nb,
            f.AT_PIVOT: 36 * nb,
            f.AT_BLOCK: 36 * len(slots),
            f.AT_LAMBDA: 6 * nb,
            f.AT_E: 6 * nb,
        }
    )


def _nodes(
    tables: Tables, at: list[set[int]], goes: list[list[int]], shift: list[int], *, always: bool = False
) -> None:
    """Add where rows are felt, in order, and from there where they go."""
    order = [sorted(rows) for rows in at]
    tables.lists(f.NODE, f.NODE_ROW, order)
    place = {pair: n for n, pair in enumerate((node, r) for node, rows in enumerate(order) for r in rows)}
    targets = [[place[shift[node] + other, r] for other in goes[node]] for node, rows in enumerate(order) for r in rows]
    if always:  # one each, or none at the base
        tables.put(f.GOES_TO, [x[0] if x else -1 for x in targets])
    else:
        tables.lists(f.GOES, f.GOES_TO, targets)
    entry_rows = [r for r, row in enumerate(tables.rows) for _ in row.bodies]
    tables.put(f.ENTRY_NODE, [place[b, r] if b else -1 for b, r in zip(tables.entries, entry_rows, strict=True)])
    tables.rooms({f.AT_Y: 6 * len(place), f.AT_SYSTEM: len(tables.rows) ** 2})


def tree(tables: Tables) -> None:
    """Add the pattern of the sparse system of bodies and joints: all that is felt goes to the base, body by body."""
    bodies = tables.bodies
    nb = len(bodies)
    at: list[set[int]] = [set() for _ in bodies]
    for r, row in enumerate(tables.rows):
        for b in row.bodies:
            while b:
                at[b].add(r)
                b = bodies[b].parent
    _nodes(tables, at, [[b.parent] if b.parent else [] for b in bodies], [0] * nb, always=True)
    tables.rooms(
        {
            f.AT_HALF_J: 36 * nb,
            f.AT_HALF_P: 36 * nb,
            f.AT_PIVOT: 36 * nb,
            f.AT_LAMBDA: 6 * nb,
            f.AT_E: 6 * nb,
            f.AT_Z: 6 * sum(len(x) for x in at),
        }
    )


def chain(tables: Tables) -> None:
    """Add the pattern of the banded system of joints, from the tip to the base."""
    counts, nb = tables.counts, len(tables.bodies)
    at: list[set[int]] = [set() for _ in tables.bodies]
    for r, row in enumerate(tables.rows):
        for b in row.bodies:
            if b:
                at[b].add(r)
    _nodes(tables, at, [[] for _ in at], [0] * nb)
    lines = sum(counts)
    tables.put(f.LINE, [sum(counts[i + 1 :]) for i in range(nb)])
    tables.header[f.LINES] = lines
    tables.band = max([counts[i] + counts[i - 1] for i in range(1, nb)] + [1])
    tables.header[f.BAND] = tables.band
    tables.rooms(
        {
            f.AT_HALF_J: 36 * nb,
            f.AT_HALF_P: 36 * nb,
            f.AT_LAMBDA: 6 * nb + lines,
            f.AT_E: 6 * nb,
            f.AT_BANDED: lines * tables.band,
            f.AT_Z: lines * len(tables.rows),
        }
    )


def generalized(tables: Tables) -> None:
    """Add the pattern of G and of the mass matrix in independent velocities, its factor included."""
    bodies, span, model = tables.bodies, tables.span, tables.model
    nt, nv = span.tree.nv, model.nv
    one = tables.keep([1.0])
    columns: list[list[tuple[int, int]]] = [[(int(d), one)] for d in span.from_tree_v[model.idx_v_independent]]
    for p, at in zip(tables.parts, tables.G, strict=True):
        for c, d in enumerate(p.dependent):
            for i, free in enumerate(p.free):
                if p.moves or p.G[c, i]:
                    columns[free].append((d, at + c * len(p.free) + i))
    tables.lists(f.G_ROW, f.G_DOF, [[d for d, _ in own] for own in columns])
    tables.put(f.G_AT, [at for own in columns for _, at in own])
    # velocities of the tree that share a term of its mass matrix
    related = np.zeros((nt, nt), dtype=bool)
    above: list[list[int]] = [[] for _ in bodies]
    for i, b in enumerate(bodies[1:], start=1):
        above[i] = above[b.parent] + [b.first + k for k in range(b.nv)]
        related[np.ix_(above[i][-b.nv :], above[i])] = True
    rods = [sorted({d for b in r.bodies for d in above[b]}) for r in tables.rows[tables.ties.hard :: 3]]
    for mine in rods:
        related[np.ix_(mine, mine)] = True
    tables.lists(f.ROD_DOF, f.ROD_DOFS, rods)
    related |= related.T
    moves = np.zeros((nv, nt), dtype=bool)
    for own, column in zip(moves, columns, strict=True):
        own[[d for d, _ in column]] = True
    up = np.tril(_product(_product(moves, related), moves.T))
    before = int(up.sum())
    for k in range(nv - 1, 0, -1):
        up[np.flatnonzero(up[k, :k]), :k] |= up[k, :k]
    up = np.tril(up)
    tables.entries_of_M = before, int(up.sum())
    tables.lists(f.UP, f.UPS, [np.flatnonzero(own) for own in up])
    wanted = _product(up, moves)
    triples = []
    for own, column in zip(wanted, columns, strict=True):
        found = [np.zeros((0, 3))]
        for d, at in column:
            others = np.flatnonzero(related[d] & own)
            entries = np.maximum(others, d) * nt + np.minimum(others, d)
            found.append(np.stack([others, entries, np.full(len(others), at)], axis=1))
        triples.append(np.concatenate(found).ravel())
    tables.lists(f.PAIR, f.PAIRS, triples)
    tables.rooms({f.AT_MASSES: nt * nt, f.AT_AT: nt, f.AT_MG: nt, f.AT_MY: nv * nv, f.AT_LAMBDA: 6 * len(bodies)})
    tables.header[f.AT_MU] = tables.keep([0.0] * max(2 * nv, len(tables.rows)))


def _product(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return where a product of matrices is not zero, from where they are not."""
    return np.asarray(x.astype(np.float32) @ y.astype(np.float32) > 0.0)
