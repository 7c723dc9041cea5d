"""Subtitles -> windows that probably contain a step, and localizations from speech alone."""
