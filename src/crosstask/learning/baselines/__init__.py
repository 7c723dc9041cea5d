"""Baselines of the paper: discriminative clustering (Alayrac et al. 2016), action sets (Richard et al. 2018)."""
