"""Find the sparsity patterns of the compiled solvers: which joints are coupled, and which bodies each row affects."""

import numpy as np

from ._compiled import fields as f
from ._tables import Tables


def virtual_work(tables: Tables) -> None:
    """Add the pattern for the solver that assembles partial chains (``yamane_nakamura``)."""
    bodies, counts = tables.bodies, tables.counts
    nb = len(bodies)
    children: list[list[int]] = [[] for _ in bodies]
    for i in range(1, nb):
        children[bodies[i].parent].append(i)
    links = [[j for j in (p, *children[p]) if counts[j]] if p else [] for p in range(nb)]
    neighbours: list[list[int]] = [[] for _ in bodies]
    for joints in links:
        for k, j in enumerate(joints):
            neighbours[j] += joints[:k]
    slots = {pair: n for n, pair in enumerate((i, j) for i in range(nb) for j in neighbours[i])}
    fill = [
        [0 if a == b else slots[max(a, b), min(a, b)] for k, a in enumerate(later) for b in later[: k + 1]]
        for later in neighbours
    ]
    tables.lists(f.NEAR, f.NEARS, neighbours)
    tables.lists(f.FILL, f.FILLS, fill)
    tables.lists(f.LINK, f.LINKS, links)
    # The rows that act on each body, then the rows that act on each joint.
    rows_at: list[set[int]] = [set() for _ in range(2 * nb)]
    for r, row in enumerate(tables.rows):
        for b in row.bodies:
            if b:
                rows_at[b].add(r)
                for j in links[b]:
                    rows_at[nb + j].add(r)
    for i in range(nb - 1, 0, -1):
        for j in neighbours[i]:
            rows_at[nb + j] |= rows_at[nb + i]
    _nodes(tables, rows_at, [*links, *neighbours], [nb] * (2 * nb))
    tables.reserve({f.AT_PIVOT: 36 * nb, f.AT_BLOCK: 36 * len(slots), f.AT_LAMBDA: 6 * nb})


def _nodes(
    tables: Tables, rows_at: list[set[int]], next_nodes: list[list[int]], shift: list[int], *, always: bool = False
) -> None:
    """Add the rows that act at each node (body or joint), and the nodes to which elimination propagates them.

    Also reserve the work space that is common to ``virtual_work``, ``tree`` and ``chain``.
    """
    order = [sorted(rows) for rows in rows_at]
    tables.lists(f.NODE, f.NODE_ROW, order)
    slot = {pair: n for n, pair in enumerate((node, r) for node, rows in enumerate(order) for r in rows)}
    targets = [[slot[shift[node] + to, r] for to in next_nodes[node]] for node, rows in enumerate(order) for r in rows]
    if always:  # each entry has exactly one target, or no target at the base
        tables.put(f.GOES_TO, [x[0] if x else -1 for x in targets])
    else:
        tables.lists(f.GOES, f.GOES_TO, targets)
    entry_rows = [r for r, row in enumerate(tables.rows) for _ in row.bodies]
    tables.put(f.ENTRY_NODE, [slot[b, r] if b else -1 for b, r in zip(tables.entries, entry_rows, strict=True)])
    nb = len(tables.bodies)
    tables.reserve({f.AT_Y: 6 * len(slot), f.AT_SYSTEM: len(tables.rows) ** 2})
    tables.reserve({f.AT_HALF_J: 36 * nb, f.AT_HALF_P: 36 * nb, f.AT_E: 6 * nb})


def tree(tables: Tables) -> None:
    """Add the pattern of the sparse system of bodies and joints; each body propagates all its rows to its parent."""
    bodies = tables.bodies
    nb = len(bodies)
    rows_at: list[set[int]] = [set() for _ in bodies]
    for r, row in enumerate(tables.rows):
        for b in row.bodies:
            while b:
                rows_at[b].add(r)
                b = bodies[b].parent
    _nodes(tables, rows_at, [[b.parent] if b.parent else [] for b in bodies], [0] * nb, always=True)
    tables.reserve({f.AT_PIVOT: 36 * nb, f.AT_LAMBDA: 6 * nb, f.AT_Z: 6 * sum(len(x) for x in rows_at)})


def chain(tables: Tables) -> None:
    """Add the pattern of the banded system of joints, ordered from the tip to the base."""
    counts, nb = tables.counts, len(tables.bodies)
    rows_at: list[set[int]] = [set() for _ in tables.bodies]
    for r, row in enumerate(tables.rows):
        for b in row.bodies:
            if b:
                rows_at[b].add(r)
    _nodes(tables, rows_at, [[] for _ in rows_at], [0] * nb)
    lines = sum(counts)
    tables.put(f.LINE, [sum(counts[i + 1 :]) for i in range(nb)])
    tables.header[f.LINES] = lines
    tables.band = max([counts[i] + counts[i - 1] for i in range(1, nb)] + [1])
    tables.header[f.BAND] = tables.band
    tables.reserve({f.AT_LAMBDA: 6 * nb + lines, f.AT_BANDED: lines * tables.band, f.AT_Z: lines * len(tables.rows)})


def generalized(tables: Tables) -> None:
    """Add the patterns of G, of the mass matrix for the independent velocities, and of the factor of this matrix."""
    bodies, span, model = tables.bodies, tables.span, tables.model
    nt, nv = span.tree.nv, model.nv
    constant_one = tables.keep([1.0])
    columns: list[list[tuple[int, int]]] = [[(int(d), constant_one)] for d in span.from_tree_v[model.idx_v_independent]]
    for p, g_entry in zip(tables.parts, tables.G, strict=True):
        for c, d in enumerate(p.dependent):
            for i, free in enumerate(p.free):
                if p.moves or p.G[c, i]:
                    columns[free].append((d, g_entry + c * len(p.free) + i))
    tables.lists(f.G_ROW, f.G_DOF, [[d for d, _ in column_entries] for column_entries in columns])
    tables.put(f.G_AT, [g_entry for column_entries in columns for _, g_entry in column_entries])
    # Pairs of tree velocities for which the tree's mass matrix has a non-zero entry.
    related = np.zeros((nt, nt), dtype=bool)
    above: list[list[int]] = [[] for _ in bodies]
    for i, b in enumerate(bodies[1:], start=1):
        above[i] = above[b.parent] + [b.first + k for k in range(b.nv)]
        related[np.ix_(above[i][-b.nv :], above[i])] = True
    rods = [sorted({d for b in r.bodies for d in above[b]}) for r in tables.rows[tables.ties.hard :: 3]]
    for dofs in rods:
        related[np.ix_(dofs, dofs)] = True
    tables.lists(f.ROD_DOF, f.ROD_DOFS, rods)
    related |= related.T
    moves = np.zeros((nv, nt), dtype=bool)
    for column_entries, column in zip(moves, columns, strict=True):
        column_entries[[d for d, _ in column]] = True
    up = np.tril(_product(_product(moves, related), moves.T))
    before = int(up.sum())
    for k in range(nv - 1, 0, -1):
        up[np.flatnonzero(up[k, :k]), :k] |= up[k, :k]
    up = np.tril(up)
    tables.entries_of_M = before, int(up.sum())
    tables.lists(f.UP, f.UPS, [np.flatnonzero(column_entries) for column_entries in up])
    rows_needed = _product(up, moves)
    triples = []
    for column_entries, column in zip(rows_needed, columns, strict=True):
        blocks = [np.zeros((0, 3))]
        for d, g_entry in column:
            targets = np.flatnonzero(related[d] & column_entries)
            entries = np.maximum(targets, d) * nt + np.minimum(targets, d)
            blocks.append(np.stack([targets, entries, np.full(len(targets), g_entry)], axis=1))
        triples.append(np.concatenate(blocks).ravel())
    tables.lists(f.PAIR, f.PAIRS, triples)
    tables.reserve({f.AT_MASSES: nt * nt, f.AT_AT: nt, f.AT_MG: nt, f.AT_MY: nv * nv, f.AT_LAMBDA: 6 * len(bodies)})
    tables.header[f.AT_MU] = tables.keep([0.0] * max(2 * nv, len(tables.rows)))


def _product(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the non-zero pattern of a matrix product from the patterns of the factors."""
    return np.asarray(x.astype(np.float32) @ y.astype(np.float32) > 0.0)
