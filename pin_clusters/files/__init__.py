"""Robot files: ``readers`` for URDF, MJCF, SDF and YAML, ``writers`` for URDF and MJCF, and ``merging`` into MJCF."""
