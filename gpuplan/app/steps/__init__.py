"""The steps of the workbook: each file turns the workbook's state into the data of its parts."""
