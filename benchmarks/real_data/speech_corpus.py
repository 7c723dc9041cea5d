"""A corpus folder with speech as features: real CrossTask annotation and subtitles, one embedding of the spoken words a second, windows as in the paper.

CROSSTASK_DATA=DATA python -m benchmarks.real_data.speech_corpus OUT

Then `crosstask experiment cross-task OUT ...`. Each video's windows come from its own narration alone. Test time uses speech too,
which the paper does not.
"""

import argparse
from dataclasses import replace
from pathlib import Path

from benchmarks.scripts import data_folder

from crosstask.datasets import open_corpus, write_release
from crosstask.features import write_rows
from crosstask.narration.narrate import narrate_paper, usable_videos
from crosstask.storage.derived_folders import cache_folder
from crosstask.text.encoders import CachedEncoder, open_encoder
from crosstask.text.encoders.speech import speech_features


def main(out: Path) -> None:
    corpus = open_corpus(data_folder() / "crosstask")
    videos = [v for v in corpus.videos if v.id in corpus.subtitles and v.key in corpus.annotations]
    corpus = corpus.only_tasks({v.task for v in videos}).only(videos)
    encoder = CachedEncoder(open_encoder("sentence"), cache_folder() / "embeddings")
    usable, _ = usable_videos(corpus, videos)
    kept = [video.video for video in usable]
    windows = narrate_paper(corpus, usable, encoder).windows
    listed = {video.key for video in kept}
    validation = frozenset(key for key in corpus.validation if key in listed)
    write_release(replace(corpus.only(kept), windows=windows, validation=validation), out)
    for video in usable:
        write_rows(
            out / "crosstask_features" / f"{video.video.id}.npy", speech_features(video.narration, video.n_segments, encoder)
        )
    print(f"{len(kept)} videos in {out}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="folder to write")
    main(parser.parse_args().out)
