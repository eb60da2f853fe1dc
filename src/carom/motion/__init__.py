"""Motion through impacts: simulate, what it goes through, and its record."""
