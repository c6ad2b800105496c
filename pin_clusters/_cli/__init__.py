"""The command line: ``cli`` and ``commands`` declare the commands; the other modules run them and print results."""
