"""Widgets of the workbook. Plain data goes to the browser, events come back; charts need no internet."""
