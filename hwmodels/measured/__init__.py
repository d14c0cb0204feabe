"""Machines known by measuring them."""
