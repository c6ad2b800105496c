"""Robots in and out of files: ``readers`` of URDF, MJCF, SDF and YAML, ``writers`` of URDF and MJCF, ``merging``."""
