"""What the commands do; ``pin_clusters.cli`` declares them."""
