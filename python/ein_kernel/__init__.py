"""Ein in Jupyter: a kernel over `ein repl --json`. `ein jupyter install` registers it; see docs/python.md."""
