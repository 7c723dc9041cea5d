"""Write what comes from results/*.json into the README and the manual, each table or paragraph between `<!-- table: NAME -->` and `<!-- end of table -->`.

python docs/fill_tables.py
"""

import re
import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # the scripts beside this one
import cost_tables
import detailed_tables
import fault_tables
import narration_tables
import sharing
import synthetic_tables
import tables
import user_tables

ROOT = Path(__file__).parent.parent
PAGES = (
    ROOT / "README.md",
    *(
        ROOT / "docs" / f"{name}.md"
        for name in ("results", "narration", "synthetic", "corpus", "cost", "reliability", "reproduce", "own-videos", "ray")
    ),
)
TABLES: dict[str, Callable[[], str]] = {
    "readme": tables.readme_table,
    "accuracy": detailed_tables.accuracy_table,
    "results": tables.results_table,
    "paper's methods": tables.all_methods_table,
    "default method": detailed_tables.default_method_table,
    "intervals": detailed_tables.intervals_table,
    "experiments": detailed_tables.experiments_table,
    "sharing": sharing.sharing_section,
    "joint decoding": user_tables.joint_table,
    "decoders": user_tables.decoders_table,
    "small collections": user_tables.small_collections_table,
    "text prior": user_tables.text_prior_table,
    "corrections": user_tables.corrections_table,
    "confidence": user_tables.confidence_table,
    "kills": fault_tables.kills_table,
    "failing disk": fault_tables.failing_table,
    "measured": fault_tables.measured_list,
    "commands": tables.commands_list,
    "windows": narration_tables.windows_table,
    "transferred settings": narration_tables.transferred_settings,
    "parts of narration": narration_tables.parts_table,
    "encoders": narration_tables.encoders_table,
    "speech as features": narration_tables.speech_table,
    "synthetic statistics": synthetic_tables.statistics_table,
    "synthetic appearance": synthetic_tables.appearance_table,
    "fitted recall": synthetic_tables.fitted_recall,
    "synthetic sharing": synthetic_tables.sharing_table,
    "related tasks": synthetic_tables.related_tasks,
    "corpus building": cost_tables.corpus_building_table,
    "time": cost_tables.time_table,
    "collections": cost_tables.collections_table,
    "large collection": cost_tables.large_collection_sentence,
    "memory": cost_tables.memory_table,
    "growth": cost_tables.growth_table,
    "release": cost_tables.release_sentence,
    "transcription": cost_tables.transcription_sentence,
    "long film": cost_tables.long_film_sentence,
    "presence": cost_tables.presence_sentence,
}
_PLACE = re.compile(r"<!-- table: (?P<name>[^>]+) -->\n.*?<!-- end of table -->", flags=re.DOTALL)


def filled(text: str) -> str:
    """The text of a page with the tables of today."""

    def place(found: re.Match[str]) -> str:
        name = found["name"]
        made = TABLES[name]().strip("\n")
        return f"<!-- table: {name} -->\n{made}\n<!-- end of table -->"

    return _PLACE.sub(place, text)


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(filled(page.read_text("utf-8")), "utf-8")
