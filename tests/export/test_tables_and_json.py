import csv
import io
import json
from dataclasses import replace

from crosstask.export.tables_and_json import activitynet, csv_table
from export.videos import VIDEO


def test_csv_round_trip_and_no_formula():
    rows = list(csv.DictReader(io.StringIO("".join(csv_table([VIDEO])))))
    assert [float(row["start_s"]) for row in rows[:3]] == [3.25, 20.0, 61.0]
    assert rows[2]["step"] == "'=sum(A1)" and rows[3]["shown"] == "no" and rows[3]["start_s"] == ""


def test_activitynet_results_have_segments_in_seconds():
    results = json.loads("".join(activitynet([VIDEO])))
    assert set(results) == {"version", "results", "external_data"}
    assert results["results"]["-vidéo_1"][0]["segment"] == [3.25, 9.5]


def test_an_empty_title_stays_empty():
    assert next(csv.DictReader(io.StringIO("".join(csv_table([replace(VIDEO, title="")])))))["task"] == ""
