"""Ein in Jupyter: a kernel over `ein repl --json`. `ein jupyter install` makes it known; docs/python.md tells the rest."""
