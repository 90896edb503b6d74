"""Simulation: what the models answer by formula, played event by event: jobs on hosts, traces, requests to language models."""
