"""Corrections of a run by people: which steps to check next, the accuracy estimated from those drawn at random, labels from other programs."""
