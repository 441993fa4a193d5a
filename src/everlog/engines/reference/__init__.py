"""The honest yardstick: rules over plain Python sets."""
