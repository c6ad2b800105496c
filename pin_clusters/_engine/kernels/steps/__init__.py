"""Steps of a simulation."""
