"""Short rendered how-to videos with known step intervals: scripts, drawings, sound and video files."""
