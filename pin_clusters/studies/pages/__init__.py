"""Self-contained HTML pages for studies: templates, tables, pictures and result files."""
