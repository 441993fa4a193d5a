"""What does it cost to delete few facts, and many?"""
