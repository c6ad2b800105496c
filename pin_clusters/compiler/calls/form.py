"""Plans of calls. A plan lists the arguments of a typical call, the kernels to run and the results to return."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..call_layer import native
from ..native.words import DATA, WORDS_OF_KIND, words_of
from ..operations import Operation, names
from ..owed import STATE_BUFFERS, Owed

Plans = Callable[[Any, Any], tuple[Any, ...]]
"""A function ``plans(owner, function)``, which returns the plans of a decorated function for a data object or model."""
RESULT = 16
"""In a step ``call``, the integer i denotes argument i if i < RESULT, and result i - RESULT otherwise."""
_SIZES = (20, 32, 52, 76, 120, 216)  # The C extension ``_native.c`` supports kernel calls with these numbers of words.


def register() -> np.ndarray:
    return np.zeros(1, dtype=np.int64)


class Words:
    """The 64-bit words that a kernel call passes, followed by zeros up to a length that the extension supports."""

    def __init__(self, operation: Operation, address: int) -> None:
        self.first, self.kinds = dict[str, int](), dict(zip(names(operation.takes), operation.kinds, strict=True))
        end = 2 if operation.is_entry else 3
        for name, kind in self.kinds.items():
            self.first[name] = end
            end += WORDS_OF_KIND[kind]
        self.words = np.zeros(next(size for size in _SIZES if size >= end), dtype=np.int64)
        self.words[self.first.get("address", 2)] = address

    def put(self, name: str, x: Any) -> None:
        """Write the 64-bit words that pass a number or an array to the kernel. The caller must keep the array alive."""
        words = words_of(x.reshape(-1) if self.kinds[name] in ("f1", "i1") else x)
        self.words[self.first[name] : self.first[name] + len(words)] = words

    def leave(self, name: str, *shape: int) -> np.ndarray:
        """Write the shape of an array. Return the word to which a later step must write the array's address."""
        self.put(name, np.empty(shape, np.int8 if self.kinds[name] == "b1" else np.float64))
        return self.word(name)

    def word(self, name: str) -> np.ndarray:
        """Return the word that contains the address of an array argument, or the value of a number."""
        index = self.first[name] + (0 if self.kinds[name] == "i0" else DATA)
        return self.words[index : index + 1]


class Form:
    """A call form, which is one of the typical argument lists of a function; ``plan`` returns the plan of the form.

    Attributes:
        owner: The data object (or model) to which the plan belongs.
        positions: Dictionary from argument names to positions.
        checks: Steps that read the arguments and check that the call has this form.
        before: Steps between the checks and the kernels.
        work: Steps that run kernels.
        results: Steps that create results after the kernels have run.
        kept: Objects that must stay alive because the steps contain their addresses.
        arrays: Dictionary of arrays, in addition to the arrays of the owner.
        shapes: Dictionary of shapes, in addition to the shapes of the owner.
        made: For each kernel argument that is a new array: the word with the array's address, and the array's size.
    """

    def __init__(self, owner: Any, function: Any, required: str, allowed: str = "") -> None:
        """``required`` lists required arguments; ``allowed`` lists optional arguments. Omit ``model`` and ``data``."""
        self.owner, self.function, self.positions = owner, function, function.positions
        self.model = getattr(owner, "_model", owner)
        implicit = ["model", *["data"] * ("data" in self.positions and owner is not self.model)]
        self._required = {*implicit, *required.split()}
        self._allowed = self._required | set(allowed.split())
        self.checks, self.before, self.work, self.results = [], [], [], []  # type: ignore[var-annotated]
        self.kept: list[Any] = []
        self.arrays: dict[str, np.ndarray] = {}
        self.shapes: dict[str, tuple[int, ...]] = {}
        self._words: dict[str, np.ndarray] = {}  # words that contain the addresses of vectors
        self.made: dict[str, tuple[np.ndarray, int]] = {}

    def plan(self, first: int = 0) -> Any:
        """Return the plan. A call that uses the plan returns the results from index ``first`` on."""
        required, allowed = (
            sum(1 << i for i in {self.positions[name] for name in names}) for names in (self._required, self._allowed)
        )
        checks = sorted(self.checks, key=lambda step: step[0] == "unchanged")  # the slowest check runs last
        steps = [*checks, *self.before, *self.work, *self.results, ("give", first)]
        return native.Plan(required, allowed, steps, tuple(self.kept))

    def remember(self, most: int) -> None:
        """Store the plan in the owner, which tries newer plans first and stores at most ``most`` of these plans."""
        self.owner._remember_plan(self.function, self.plan(), most)

    def allow(self, name: str, *steps: Any) -> None:
        self._allowed.add(name)
        self.checks += steps

    def argument(self, name: str, size: int, word: np.ndarray) -> None:
        if name in self._words:
            self.before.append(("copy", 1, word, self._words[name]))
        else:
            self._words[name] = word
            self.checks.append(("numbers", self.positions[name], size, np.zeros(size), word))

    def word(self, name: str) -> np.ndarray:
        if name not in self._words:
            if name in self._allowed and name not in self.arrays:
                self.argument(name, self.size(name), register())
            else:
                self._words[name] = self.lead_to(self.result_array(name))
        return self._words[name]

    def lead_to(self, x: np.ndarray) -> np.ndarray:
        self.kept.append(x)
        word = register()
        word[0] = x.ctypes.data
        return word

    def size(self, name: str) -> int:
        return int(self.model.nq if name.startswith(("q", "lower", "upper")) else self.model.nv)

    def result_array(self, name: str) -> np.ndarray:
        array: np.ndarray = self.arrays[name] if name in self.arrays else self.owner._named(name)
        self.kept.append(array)
        return array

    def reads_tree(self) -> None:
        """Add a check that the arrays of the tree's data are still at the same addresses."""
        table = self.owner._watch.table
        self.checks.append(("unchanged", table.size, table))
        self.kept += [self.owner._watch, self.owner._tree]

    def forces(self, name: str = "fext") -> None:
        """Add a step that checks the external forces, and copies them to the array ``forced`` from index nv on."""
        n, array = self.model.njoints, self.result_array("forced")
        self.checks.append(("forces", self.positions[name], n, 6 * n, array[self.model.nv :]))

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
        """Add a step that runs a kernel.

        Args:
            operation: Operation of the kernel.
            code: Address of the kernel's code.
            tables: ``Pointer`` to the tables.
            given: One item per kernel argument, in order: the name of an argument, array or number; ``+shape`` for a
                new array that is a result; ``=shape`` for the argument ``out`` or a new array; ``-`` for an empty
                vector; ``--`` for a matrix without rows; ``.`` for a word that the caller writes.
            numbers: Dictionary from names that occur in ``given`` to numbers.
            arrays: Dictionary from names that occur in ``given`` to further arrays.
            leads: For names of arrays in ``given``: (word, *shape). An earlier step writes the address to the word.
            early: Whether the kernel runs before steps overwrite a stored state; necessary if the kernel can fail.
        """
        nv, numbers, leads, arrays = self.model.nv, numbers or {}, leads or {}, self.arrays | dict(arrays or {})
        words = Words(operation, tables.address)
        self.kept += [tables, *arrays.values()]
        read = list[tuple[int, int, np.ndarray]]()
        for name, item in zip((x for x in words.first if x != "address"), given.split(), strict=True):
            if item[0] in "+=":
                shape = self.shapes.get(item[1:]) or self.owner._shape(item[1:])
                word = words.leave(name, *(shape if words.kinds[name] == "f2" else (int(np.prod(shape)),)))
                self.made[name] = word, int(np.prod(shape))
                if item[0] == "+":
                    self.fresh(shape, word)
                else:
                    inputs = [x for triple in (*read, *[(0, 0, word)] * (3 - len(read))) for x in triple]
                    # An invalid `out` must fail before any step changes stored data.
                    self.checks.append(("out", self.positions["out"], len(shape), nv, word, *inputs))
            elif item in numbers:
                words.put(name, numbers[item])
            elif item in leads:
                word, *sizes = leads[item]
                self.work.append(("copy", 1, words.leave(name, *sizes), word))
            elif item in ("-", "--"):
                words.put(name, np.zeros((0, nv) if words.kinds[name] == "f2" else 0))
            elif item in self._allowed and item not in arrays:
                self.argument(item, self.size(item), words.leave(name, self.size(item)))
                read.append((self.positions[item], self.size(item), self._words[item]))
            elif item != ".":
                words.put(name, arrays[item] if item in arrays else self.result_array(item))
        (self.before if early else self.work).append(("run", code, len(words.words), words.words))
        return words

    def call(self, function: Any, *given: Any) -> None:
        """Add a step that calls a Python function and adds its return value to the results.

        ``given`` has at most five items: objects, positions of arguments, or ``RESULT`` plus the number of a result.
        """
        self.work.append(("call", function, len(given), *given, *[0] * (5 - len(given))))

    def fresh(self, shape: tuple[int, ...], word: np.ndarray) -> None:
        """Add a step that creates a result array and writes the address of the array's data to ``word``."""
        self.work.append(("fresh", len(shape), *(*shape, 0, 0)[:3], word))

    def copied(self, *arrays: np.ndarray) -> None:
        for x in arrays:
            self.results.append(("copied", x.ndim, *(*x.shape, 0, 0)[:3], x.size, x))

    def keep(self, array: np.ndarray, vectors: list[str], steps: list[Any]) -> np.ndarray:
        for name in vectors:
            size = self.size(name)
            steps.append(("save", size, array[:size], self.word(name)))
            array = array[size:]
        return array

    def owes(self, owed: Owed, vectors: list[str], clears: int | None = None, *, late: bool = False) -> None:
        """Add steps that record which members of ``data`` the call owes, and store the state. Call ``run`` first.

        Earlier calls no longer owe the members in ``clears``. If ``late``, the state is stored after the kernels, so a
        failed call changes neither state nor owed members. Kernels must not modify the state (``vectors``).
        """
        words, named = self.owner._owed_words, vectors[: len(STATE_BUFFERS[owed.buffer].split())]
        kept_state = self.owner._stored_state(owed.buffer) if named else words
        state = [x for name in named for x in (self.size(name), self.word(name))]
        state += [0, words] * (3 - len(named))
        clears = owed.clears if clears is None else clears
        members = owed.buffer, clears, owed.owes, owed.spoils
        note = ("note", *members, len(words), words, sum(state[::2]), kept_state, *state)
        (self.work if late else self.before).append(note)
        self.work.append(("owe",))

    def save(self, to: np.ndarray, name: str) -> None:
        word, size = self.made[name]
        self.work.append(("save", size, to, word))

    def items(self, name: str, given: Any) -> bool:
        """Add a check that an argument has the items ``given``, or return False if these items could change later."""
        objects = tuple(given)
        if type(given) not in (list, tuple) or not all(type(x) in (str, int, np.int64) for x in objects):
            return False
        self.checks.append(("items", self.positions[name], objects))
        return True
