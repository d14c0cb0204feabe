"""Fairness among tenants."""
