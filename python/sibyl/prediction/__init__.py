"""Recorded arrivals, replayed through the predictors."""
