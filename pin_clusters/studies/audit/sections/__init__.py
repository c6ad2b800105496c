"""The values of the page, a module per topic; the words around them are in ``page.html``."""
