"""Compute the values shown on the page, with one module per topic; ``page.html`` contains the text."""
