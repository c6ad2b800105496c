"""Writing the plan of a usual form of a call: which arguments, which kernels, which results."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..call_layer import native
from ..native.words import DATA, WORDS_OF_KIND, words_of
from ..operations import Operation, names
from ..owed import ROOMS, Owed

Plans = Callable[[Any, Any], tuple[Any, ...]]
"""Returns the plans of a function for an owner: ``plans(owner, function)``."""
RESULT = 16
"""Arguments of the step ``call`` from this number on are results."""
_SIZES = (20, 32, 52, 76, 120, 216)  # so many words a kernel is called with, as in ``_native.c``


def register() -> np.ndarray:
    """Return a word to which a step can write."""
    return np.zeros(1, dtype=np.int64)


class Words:
    """The words of a kernel's call.

    Attributes:
        words: All of them, as many as the extension passes.
        first: At which word each argument begins, by its name.
    """

    def __init__(self, operation: Operation, address: int) -> None:
        self.first, self.kinds = dict[str, int](), dict(zip(names(operation.takes), operation.kinds, strict=True))
        end = 2 if operation.is_entry else 3
        for name, kind in self.kinds.items():
            self.first[name] = end
            end += WORDS_OF_KIND[kind]
        self.words = np.zeros(next(size for size in _SIZES if size >= end), dtype=np.int64)
        self.words[self.first.get("address", 2)] = address

    def put(self, name: str, x: Any) -> None:
        """Write an array, which somebody else keeps alive, or a number."""
        found = words_of(x.reshape(-1) if self.kinds[name] in ("f1", "i1") else x)
        self.words[self.first[name] : self.first[name] + len(found)] = found

    def leave(self, name: str, *shape: int) -> np.ndarray:
        """Write the shape of an array; return the word where its address is to be written."""
        self.put(name, np.empty(shape, np.int8 if self.kinds[name] == "b1" else np.float64))
        return self.word(name)

    def word(self, name: str) -> np.ndarray:
        """Return the word that leads to an argument, or is a number."""
        at = self.first[name] + (0 if self.kinds[name] == "i0" else DATA)
        return self.words[at : at + 1]


class Form:
    """One usual form of a call.

    Attributes:
        owner: The data object (or model).
        model: The model.
        function: The function that is called.
        positions: Of its arguments, by their names.
        checks: Steps that find the arguments and see whether all is usual.
        before: Steps between these and the kernels.
        work: Steps that run kernels.
        results: Steps that make results behind them.
        kept: Everything to which words lead.
        arrays: Arrays by name, besides those of the owner.
        shapes: Shapes by name, besides those of the owner.
        made: Of each new array, by the name of the kernel's argument: the word that leads there, and its size.
    """

    def __init__(self, owner: Any, function: Any, required: str, allowed: str = "") -> None:
        """Begin.

        Args:
            owner: The data object (or model).
            function: The function that is called.
            required: Names of the arguments that must be given, without model and data.
            allowed: Of those that may be given besides.
        """
        self.owner, self.function, self.positions = owner, function, function.positions
        self.model = getattr(owner, "_model", owner)
        own = ["model", *["data"] * ("data" in self.positions and owner is not self.model)]
        self._required = {*own, *required.split()}
        self._allowed = self._required | set(allowed.split())
        self.checks, self.before, self.work, self.results = [], [], [], []  # type: ignore[var-annotated]
        self.kept: list[Any] = []
        self.arrays: dict[str, np.ndarray] = {}
        self.shapes: dict[str, tuple[int, ...]] = {}
        self._words: dict[str, np.ndarray] = {}  # that lead to vectors
        self.made: dict[str, tuple[np.ndarray, int]] = {}

    def plan(self, first: int = 0) -> Any:
        """Return the plan; results before the first one are not returned."""
        required, allowed = (
            sum(1 << at for at in {self.positions[name] for name in some}) for some in (self._required, self._allowed)
        )
        checks = sorted(self.checks, key=lambda step: step[0] == "unchanged")  # last, as it takes longest
        steps = [*checks, *self.before, *self.work, *self.results, ("give", first)]
        return native.Plan(required, allowed, steps, tuple(self.kept))

    def remember(self, most: int) -> None:
        """Let the owner try this plan before the others of the function, and keep at most so many such plans."""
        self.owner._remember_plan(self.function, self.plan(), most)

    # --- arguments

    def allow(self, name: str, *steps: Any) -> None:
        """Let an argument be given, if steps accept it."""
        self._allowed.add(name)
        self.checks += steps

    def argument(self, name: str, size: int, word: np.ndarray) -> None:
        """Let a word lead to the numbers of a vector that is an argument."""
        if name in self._words:
            self.before.append(("copy", 1, word, self._words[name]))
        else:
            self._words[name] = word
            self.checks.append(("numbers", self.positions[name], size, np.zeros(size), word))

    def word(self, name: str) -> np.ndarray:
        """Return a word that leads to a vector: an argument, or an array of the owner."""
        if name not in self._words:
            if name in self._allowed and name not in self.arrays:
                self.argument(name, self.size(name), register())
            else:
                self._words[name] = self.lead_to(self.room(name))
        return self._words[name]

    def lead_to(self, x: np.ndarray) -> np.ndarray:
        """Return a word that leads to an array, which the plan keeps alive."""
        self.kept.append(x)
        word = register()
        word[0] = x.ctypes.data
        return word

    def size(self, name: str) -> int:
        """Return the size of a vector, by its name."""
        return int(self.model.nq if name.startswith(("q", "lower", "upper")) else self.model.nv)

    def room(self, name: str) -> np.ndarray:
        """Return an array of the owner, by its name."""
        found: np.ndarray = self.arrays[name] if name in self.arrays else self.owner._named(name)
        self.kept.append(found)
        return found

    def reads_tree(self) -> None:
        """Leave the call to Python if the memory of the tree's data is not where it was."""
        table = self.owner._watch.table
        self.checks.append(("unchanged", table.size, table))
        self.kept += [self.owner._watch, self.owner._tree]

    def forces(self, name: str = "fext") -> None:
        """Take external forces, to where kernels read them: behind nv numbers."""
        n, room = self.model.njoints, self.room("forced")
        self.checks.append(("forces", self.positions[name], n, 6 * n, room[self.model.nv :]))

    # --- kernels

    def run(
        self,
        operation: Operation,
        code: int,
        tables: Any,
        given: str,
        numbers: Mapping[str, int] | None = None,
        arrays: Mapping[str, np.ndarray] | None = None,
        leads: Mapping[str, tuple[Any, ...]] | None = None,
        early: bool = False,
    ) -> Words:
        """Run a kernel.

        Args:
            operation: Its operation.
            code: Its address.
            tables: The ``Pointer`` that it is given.
            given: Its arguments, in order: a vector that is an argument of the function; ``+shape``, a new array that
                is a result; ``=shape``, the same, or the argument ``out``; ``-``, nothing; ``--``, no rows; ``.``, what
                the caller writes; else the name of an array, or of a number.
            numbers: Numbers by name.
            arrays: Arrays by name, besides those of the owner.
            leads: Arrays by name that earlier steps find: the word that leads there, and the shape.
            early: Whether it runs before the steps that overwrite a kept state, as it may fail.
        """
        nv, numbers, leads, arrays = self.model.nv, numbers or {}, leads or {}, self.arrays | dict(arrays or {})
        words = Words(operation, tables.address)
        self.kept += [tables, *arrays.values()]
        read = list[tuple[int, int, np.ndarray]]()
        for name, what in zip((x for x in words.first if x != "address"), given.split(), strict=True):
            if what[0] in "+=":
                shape = self.shapes.get(what[1:]) or self.owner._shape(what[1:])
                word = words.leave(name, *(shape if words.kinds[name] == "f2" else (int(np.prod(shape)),)))
                self.made[name] = word, int(np.prod(shape))
                if what[0] == "+":
                    self.fresh(shape, word)
                else:
                    apart = [x for one in (*read, *[(0, 0, word)] * (3 - len(read))) for x in one]
                    # A wrong `out` must fail before the steps that change what is kept.
                    self.checks.append(("out", self.positions["out"], len(shape), nv, word, *apart))
            elif what in numbers:
                words.put(name, numbers[what])
            elif what in leads:
                word, *sizes = leads[what]
                self.work.append(("copy", 1, words.leave(name, *sizes), word))
            elif what in ("-", "--"):
                words.put(name, np.zeros((0, nv) if words.kinds[name] == "f2" else 0))
            elif what in self._allowed and what not in arrays:
                self.argument(what, self.size(what), words.leave(name, self.size(what)))
                read.append((self.positions[what], self.size(what), self._words[what]))
            elif what != ".":
                words.put(name, arrays[what] if what in arrays else self.room(what))
        (self.before if early else self.work).append(("run", code, len(words.words), words.words))
        return words

    def call(self, function: Any, *given: Any) -> None:
        """Call a function of Python; its result is one of the call's.

        Args:
            function: The function.
            given: At most five arguments: objects, positions of arguments, or ``RESULT`` plus the number of a result.
        """
        self.work.append(("call", function, len(given), *given, *[0] * (5 - len(given))))

    # --- results

    def fresh(self, shape: tuple[int, ...], word: np.ndarray) -> None:
        """Make a new array that is a result: a word leads to its numbers."""
        self.work.append(("fresh", len(shape), *(*shape, 0, 0)[:3], word))

    def copied(self, *arrays: np.ndarray) -> None:
        """Return copies of arrays."""
        for x in arrays:
            self.results.append(("copied", x.ndim, *(*x.shape, 0, 0)[:3], x.size, x))

    def keep(self, room: np.ndarray, vectors: list[str], steps: list[Any]) -> np.ndarray:
        """Copy vectors to an array, one behind the other, as some of the steps; return what is left of the array."""
        for name in vectors:
            size = self.size(name)
            steps.append(("save", size, room[:size], self.word(name)))
            room = room[size:]
        return room

    def owes(self, owed: Owed, vectors: list[str], clears: int | None = None, *, late: bool = False) -> None:
        """Let the call owe members of data, of a state; to be called when all kernels are there.

        Args:
            owed: What the call owes.
            vectors: Names of the vectors of the state.
            clears: What earlier calls do not owe any more.
            late: Keep the state after the kernels, which must not write these vectors. Calls that fail then leave the
                kept state and what earlier calls owe.
        """
        words, named = self.owner._owed_words, vectors[: len(ROOMS[owed.room].split())]
        there = self.owner._room(owed.room) if named else words
        state = [x for name in named for x in (self.size(name), self.word(name))]
        state += [0, words] * (3 - len(named))
        clears = owed.clears if clears is None else clears
        note = "note", owed.room, clears, owed.owes, owed.spoils, len(words), words, sum(state[::2]), there, *state
        (self.work if late else self.before).append(note)
        self.work.append(("owe",))

    def save(self, to: np.ndarray, name: str) -> None:
        """Copy the new array that is a kernel's argument of a name to another array, which is no smaller."""
        word, size = self.made[name]
        self.work.append(("save", size, to, word))

    def items(self, name: str, given: Any) -> bool:
        """Take a list or tuple of the very objects of a given one; returns whether such objects never change."""
        known = tuple(given)
        if type(given) not in (list, tuple) or not all(type(x) in (str, int, np.int64) for x in known):
            return False
        self.checks.append(("items", self.positions[name], known))
        return True
