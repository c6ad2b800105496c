"""List published percentages, ratios and growth orders, but no times, because times depend on the processor."""

from typing import Any

CHIGNOLI = "Chignoli et al., arXiv 2311.13732"
YAMANE = "Yamane and Nakamura"
KROEG = "Kroeg, Gattringer and Mueller"
MOSS = "Moss, lecture slides on articulated bodies"

ROBOTS: dict[str, tuple[str, dict[str, Any]]] = {
    "geared_chain": ("geared chain", {"n": 12}),
    "belt_chain": ("belt chain", {"n": 12}),
    "mini_cheetah": ("Mini Cheetah", {}),
    "mit_humanoid": ("MIT Humanoid", {}),
    "tello_with_arms": ("Tello with arms", {}),
    "jvrc1_as_published": ("JVRC-1", {}),
}
"""Robots in the tables: maps ``pc.load`` names to titles in figures and additional arguments of ``pc.load``."""

# Additional time of a method, in per cent of the cluster algorithm's time (negative: faster), ordered as ROBOTS.
TABLES: dict[str, dict[str, tuple[float, ...]]] = {
    "inverse dynamics": {
        "approximate": (-40.3, -36.2, -41.0, -42.0, -59.6, -37.7),
        "projection": (38.0, 37.8, 36.7, 35.9, 22.4, 36.6),
    },
    "forward dynamics": {
        "approximate": (-34.1, -34.6, -35.3, -38.6, -49.4, -38.4),
        "projection": (86.8, 73.5, 21.0, 32.5, 22.2, 87.3),
        "lagrange": (133.1, 119.8, 76.3, 106.2, 82.7, 212.8),
    },
    "operational inertia": {
        "approximate": (-35.7, -52.1, -28.6, -37.4, -51.4, -22.54),
        "projection": (51.8, 6.3, 19.0, 23.2, 7.8, 107.4),
    },
}
PLACE = {
    "inverse dynamics": "Table II and Fig. 9",
    "forward dynamics": "Table III and Fig. 10",
    "operational inertia": "Table IV and Fig. 12",
}

VIRTUAL_WORK_SERIAL = 15.0  # Degrees of freedom above which virtual work is faster on serial chains (Fig. 6)
VIRTUAL_WORK_SPLIT = 30.0  # Degrees of freedom above which splitting a link with many joints saves time (Fig. 7)

INPUT_MATRICES = {
    "chain": {
        "one / aba": 12.21 / 6.65,
        "all / aba": 13.22 / 7.26,
        "forces / one": 10.30 / 12.21,
        "forces / all": 205.85 / 13.22,
    },
    "humanoid": {"all / aba": 4.13 / 2.72, "forces / all": 67.20 / 4.13},
}
"""Time ratios for a chain of 50 links (Table 1, with the ``aba`` time of the same column) and a humanoid (Table 2)."""
STATED_LONGER = 30.0  # Stated time of the humanoid's input matrix, in per cent above forward dynamics

MASS_MATRIX_BEFORE = 9  # Number of joints below which the mass matrix method is faster, according to Moss's slides

MISPRINTS = (
    ("Yamane and Nakamura, equation (16)", "$H_{J1,1}$", "$H_{J1,0}$"),
    ("Yamane and Nakamura, equation (38)", "a list that starts with link 1", "a list that starts with link 0"),
    ("Yamane and Nakamura, equation (51)", r"$\gamma_N$", r"$\gamma_{JN}$"),
    (
        "Yamane and Nakamura, splitting of a link",
        "any share of its inertia",
        "each half needs some inertia, otherwise its matrix is singular",
    ),
    ("Kroeg, Gattringer and Mueller, text for Table 2", "30 % longer", "the numbers in the table differ by 52 %"),
    ("Chignoli et al., text for Fig. 14", "the ankle", "the authors' script draws the knee"),
)
"""Misprints in the papers, as (page or equation, printed text, correct text)."""
