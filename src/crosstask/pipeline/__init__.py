"""`run FOLDER`: the stages in order, each of which may be called alone, and each of which skips what is done."""
