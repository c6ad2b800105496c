"""Response of the robot's accelerations to many forces at once."""
