"""Video file -> features (T, D), one row a second: decoding, backbones, speech."""
