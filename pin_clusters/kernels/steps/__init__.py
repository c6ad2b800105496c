"""Steps of a simulation: ``simulate`` computes them without a ground, ``ground`` with a ground.

``phases`` contains the phases of a contact step, ``sticking_impulses`` the impulses of points that do not slide, and
``passive`` the springs, dampers and friction of joints.
"""
