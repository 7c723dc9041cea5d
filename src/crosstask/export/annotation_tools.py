"""Files for annotation tools: ELAN, Label Studio, FiftyOne."""

from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree as ET

from crosstask.export.localized_video import LocalizedVideo
from crosstask.export.tables_and_json import json_with
from crosstask.records import FoundStep, Interval
from crosstask.storage import xml_text

ELAN_SCHEMA = "http://www.mpi.nl/tools/elan/EAFv3.0.xsd"


def elan(video: LocalizedVideo) -> str:
    """An ELAN document (.eaf): one tier 'steps' with an annotation per shown step; times in milliseconds."""
    root = ET.Element("ANNOTATION_DOCUMENT", AUTHOR="crosstask", DATE="1970-01-01T00:00:00+00:00", FORMAT="3.0", VERSION="3.0")
    root.set("xmlns:xsi", "http://www.w3.org/2001/XMLSchema-instance")
    root.set("xsi:noNamespaceSchemaLocation", ELAN_SCHEMA)
    header = ET.SubElement(root, "HEADER", MEDIA_FILE="", TIME_UNITS="milliseconds")
    path = quote(video.media)
    url = f"file://{path}" if path.startswith("/") else path
    ET.SubElement(header, "MEDIA_DESCRIPTOR", MEDIA_URL=url, MIME_TYPE="video/mp4", RELATIVE_MEDIA_URL=path)
    order = ET.SubElement(root, "TIME_ORDER")
    tier = ET.Element("TIER", TIER_ID="steps", LINGUISTIC_TYPE_REF="default-lt", DEFAULT_LOCALE="en")
    for number, step in enumerate(video.steps, start=1):
        slots = f"ts{2 * number - 1}", f"ts{2 * number}"
        for slot, second in zip(slots, (step.start_s, step.end_s), strict=True):
            ET.SubElement(order, "TIME_SLOT", TIME_SLOT_ID=slot, TIME_VALUE=str(round(1000 * second)))
        annotation = ET.SubElement(ET.SubElement(tier, "ANNOTATION"), "ALIGNABLE_ANNOTATION", ANNOTATION_ID=f"a{number}")
        annotation.set("TIME_SLOT_REF1", slots[0])
        annotation.set("TIME_SLOT_REF2", slots[1])
        ET.SubElement(annotation, "ANNOTATION_VALUE").text = step.name
    root.append(tier)
    ET.SubElement(root, "LINGUISTIC_TYPE", GRAPHIC_REFERENCES="false", LINGUISTIC_TYPE_ID="default-lt", TIME_ALIGNABLE="true")
    ET.SubElement(root, "LOCALE", COUNTRY_CODE="US", LANGUAGE_CODE="en")
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + xml_text(ET.tostring(root, encoding="unicode")) + "\n"


def label_studio(videos: Sequence[LocalizedVideo], frames_per_second: float) -> Iterator[dict[str, Any]]:
    """Label Studio tasks with timeline-label predictions; its timelines count frames from 1, so the frame rate is needed, and kept in `data`."""
    return (
        {
            "data": {
                "video": video.media,
                "task": video.title,
                "video_id": video.key.video,
                "frames_per_second": frames_per_second,
            },
            "predictions": [
                {
                    "model_version": "crosstask",
                    "score": _mean([_confidence(step) for step in video.steps]),
                    "result": [_label_studio_region(i, step, frames_per_second) for i, step in enumerate(video.steps)],
                }
            ],
        }
        for video in videos
    )


def _label_studio_region(number: int, step: FoundStep, frames_per_second: float) -> dict[str, Any]:
    first, last = Interval(step.start_s, step.end_s).frames(frames_per_second)
    return {
        "id": f"step{number}",
        "type": "timelinelabels",
        "from_name": "steps",
        "to_name": "video",
        "score": _confidence(step),
        "value": {"ranges": [{"start": first, "end": last}], "timelinelabels": [step.name]},
        "meta": {"start_s": step.start_s, "end_s": step.end_s},
    }


def fiftyone(videos: Sequence[LocalizedVideo]) -> Iterator[str]:
    """The labels file of a FiftyOne temporal-detection dataset, in pieces; timestamps in seconds, which FiftyOne converts to frames."""
    by_name = {str(video.key): video for video in videos}
    labels = (
        (
            name,
            [
                {"label": step.name, "timestamps": [step.start_s, step.end_s], "confidence": _confidence(step)}
                for step in by_name[name].steps
            ],
        )
        for name in sorted(by_name)
    )
    return json_with({"classes": sorted({step.name for video in videos for step in video.steps})}, "labels", labels)


def _confidence(step: FoundStep) -> float:
    """The probability that the moment lies in the step; the score of a method that states none."""
    return step.score if step.confidence is None else step.confidence


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
