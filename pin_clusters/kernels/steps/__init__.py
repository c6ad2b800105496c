"""Steps of a simulation: ``simulate`` without a ground, ``ground`` on one.

``phases`` contains the phases of a contact step, ``sticking_impulses`` the impulses of points that do not slide, and
``passive`` springs, dampers and friction of joints.
"""
