"""One raw record -> Trajectory | Rejected; one module per dialect; the outcome of a result."""
