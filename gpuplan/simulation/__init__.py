"""Simulation: what the models answer by formula, played as events: jobs on hosts, traces, language-model requests."""
