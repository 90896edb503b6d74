"""Analysis: more plans from one. Explore, sensitivity, comparison, alternatives, simulation on the plan's hosts.

``calibration`` holds the network models against published measurements and fits their parameters again.
"""
