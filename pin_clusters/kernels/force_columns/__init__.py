"""Response of the whole robot to many forces at once."""
