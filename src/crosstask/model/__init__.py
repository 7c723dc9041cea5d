"""A trained model: its file, and the localization of steps with it."""
