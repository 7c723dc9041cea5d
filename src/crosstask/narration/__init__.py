"""Subtitles -> windows where a step may lie, features from speech, and parses from speech alone."""
