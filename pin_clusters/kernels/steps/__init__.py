"""Steps of a simulation: ``simulate`` computes steps without ground contact, ``ground`` steps with ground contact.

``phases`` contains the phases of a contact step. ``sticking_impulses`` computes the impulses at points that do not
slide. ``passive`` computes the forces of springs, dampers and friction in joints.
"""
