"""Analyse robots, and write pages with the results.

``study`` computes the errors of approximate robot models along motions. ``audit`` decides whether armature can replace
rotors. ``sweeps`` runs studies for many robots and parameter values. ``design`` analyses mechanisms, ``identify``
estimates parameters from logs, and ``atlas`` checks the published armature of commercial robots. ``pages`` contains
the templates, tables and figures of the HTML pages.
"""
