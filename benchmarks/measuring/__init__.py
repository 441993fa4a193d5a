"""What does something cost? Time, memory, and counts that no machine changes; and on which machine."""
