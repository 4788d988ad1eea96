"""How the site is made: examples that run, figures from generated pages, the reference."""
