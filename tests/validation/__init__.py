"""The models against published measurements: predictions, errors, and the fit of their parameters. Not part of the wheel."""
