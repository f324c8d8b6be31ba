"""Processes that Sibyl starts.

Supervised as a group, told apart from later ones of their number, and the signals that end them.
"""
