"""Steps of a simulation: ``simulate`` runs steps without ground contact, and ``ground`` runs steps with it.

``phases`` contains the phases of a contact step. ``sticking_impulses`` computes the impulses at points that do not
slide. ``passive`` computes the forces of springs, dampers and friction in joints.
"""
