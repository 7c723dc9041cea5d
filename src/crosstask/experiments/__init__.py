"""The experiments of the paper: one function per table or figure, run as independent jobs over splits."""
