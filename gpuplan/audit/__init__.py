"""The audit: files of jobs or of samples -> how GPUs are used today -> groups of a scenario, and a replay on its hosts.

``trace`` reads the files; ``audit`` says what they show.
"""
