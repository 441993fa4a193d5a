"""The yardstick for other engines: rules over plain Python sets."""
