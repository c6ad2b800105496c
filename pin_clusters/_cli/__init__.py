"""What the commands do; ``cli`` declares them."""
