"""Create self-contained HTML pages for studies from templates, tables and figures; write result files."""
