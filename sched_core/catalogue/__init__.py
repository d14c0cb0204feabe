"""Plugins: what is installed, how a spec string names it, how its parameters are set."""
