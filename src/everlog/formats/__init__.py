"""Text and columns to facts and back: one file per format."""
