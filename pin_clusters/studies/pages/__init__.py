"""Pages that need no network: templates, tables, pictures and files, for the audit and for mechanisms."""
