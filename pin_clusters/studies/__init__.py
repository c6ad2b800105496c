"""Questions about robots, and the pages that answer them.

``study``: what approximations get wrong along motions; ``audit``: whether armature is enough, on one page; ``sweeps``:
over many robots and parameters; ``design``: what designers ask of a mechanism; ``identify``: what logs tell;
``pages``: what pages share.
"""
