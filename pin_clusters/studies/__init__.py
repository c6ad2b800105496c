"""Analyse robots, and write pages with the results.

``study`` computes errors of approximations along motions. ``audit`` decides whether armature is accurate enough.
``sweeps`` runs studies for many robots and parameter values. ``design`` analyses mechanisms, ``identify`` estimates
parameters from logs, and ``atlas`` checks the published armature of commercial robots. ``pages`` contains
the elements that all pages share.
"""
