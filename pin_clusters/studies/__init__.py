"""Study robots, and write pages with the results.

``study`` computes errors of approximations along motions. ``audit`` decides whether armature is accurate enough.
``sweeps`` runs studies over many robots and parameters. ``design`` analyses mechanisms, ``identify`` estimates
parameters from logs, and ``atlas`` checks published armature of commercial robots. ``pages`` contains
elements that all pages share.
"""
