"""The method of Zhukov et al. (CVPR 2019): component classifiers, alternating labels and gradient steps."""
