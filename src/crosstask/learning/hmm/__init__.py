"""The default method: EM for a hidden Markov model whose class means share through the words of the steps."""
