"""`crosstask run`: the stages in order; each can be called alone and skips what is done."""
