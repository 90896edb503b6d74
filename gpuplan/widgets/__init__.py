"""Widgets of the workbook. Plain data goes to the browser, events come back; charts need no internet.

``part`` is a card drawn by one of the files in ``static``, ``chart`` one drawn by Vega.
"""
