"""Compute the values of the page, one module per topic; ``page.html`` contains the text."""
