"""What acts by itself, as steps and their kernels know it: rows of whole numbers, and numbers beside them."""

from typing import Final

# rows of four: one that counts, one per line, one per term of a line
LINES: Final = 0  # in the first row: springs, dampers and friction along sums of coordinates
THROUGH: Final = 1  # whether one needs the coupling function
RATES: Final = 0  # in a line's: its first term of the rate, behind those of the length from FIRST on, and its end
END: Final = 1
FIRST: Final = 2
OF_TREE: Final = 3  # whether its rate is of velocities of the tree, not of independent ones
INDEX: Final = 0  # in a term's: in q or v

# numbers: these of each line, the coefficient of each term, then of motors
LOW: Final = 0  # ends of the range of rest
HIGH: Final = 1
STIFFNESS: Final = 2  # three each
DAMPING: Final = 5
FRICTION: Final = 8
SPEED: Final = 9  # at which friction turns its sign
NUMBERS: Final = 10  # how many these are
