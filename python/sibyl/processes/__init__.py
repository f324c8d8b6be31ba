"""Processes that Sibyl starts.

Supervised as a group, told apart from later ones of their number, ended with all that they have
started, and cleaned up after where this process is killed.
"""
