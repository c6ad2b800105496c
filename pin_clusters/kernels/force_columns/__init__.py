"""What many forces at once do to the whole robot."""
