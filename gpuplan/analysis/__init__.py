"""Analysis: more plans from one. Explore, sensitivity, comparison, alternatives, simulation on the plan's hosts."""
