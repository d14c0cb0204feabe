"""Policies that come in a distribution of their own, as anyone's would."""
