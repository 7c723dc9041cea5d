"""Features (T, D) of video files, one row per second: decoding, backbones, speech recognition."""
