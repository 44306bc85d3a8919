"""The flows: the only place that knows Prefect. Import ``environment`` and call ``prepare`` before any other module here."""
