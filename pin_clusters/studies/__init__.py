"""Study robots, and write pages with the results.

``study``: errors of approximations along motions; ``audit``: whether armature is accurate enough, on one page;
``sweeps``: studies over many robots and parameters; ``design``: properties of a mechanism for its designer;
``identify``: parameters from logs; ``atlas``: published armature of commercial robots; ``pages``: elements that all
pages share.
"""
