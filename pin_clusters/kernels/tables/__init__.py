"""What stands where in a model's tables and in the workspace."""
