"""Short synthetic how-to videos, drawn here: scripts, drawings, sound, film. Nothing in them was photographed or recorded."""
