"""Questions about robots, and the pages that answer them."""
