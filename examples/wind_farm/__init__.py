"""A wind farm that finds its broken temperature sensors."""
