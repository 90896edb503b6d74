"""The steps of the workbook: each file turns the workbook's state into what its parts show."""
