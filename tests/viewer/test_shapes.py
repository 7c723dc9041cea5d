"""Generated requests, valid and invalid, from the schema of the server: every response must conform to the schema."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed")

from viewer.viewed import FIRST, app_of, write_viewed_run  # noqa: E402

OURS = {"host": "127.0.0.1:8765"}
OPERATIONS = {
    "GET /api/run",
    "GET /api/videos",
    "GET /api/video",
    "GET /api/scores",
    "GET /api/transcript",
    "POST /api/parse",
    "PUT /api/annotation",
    "PUT /api/label",
    "POST /api/undo",
    "GET /api/review",
    "GET /api/learning",
    "POST /api/learning",
    "PUT /api/relevance",
}


@pytest.fixture(scope="module")
def operations(tmp_path_factory):
    app = app_of(write_viewed_run(tmp_path_factory.mktemp("schema") / "run"))
    schema = schemathesis.openapi.from_asgi("/api/openapi.json", app, headers=OURS)
    return {operation.label: operation for operation in (result.ok() for result in schema.get_all_operations())}


def name_a_real_video(case):
    """Random ids name no video: without this, nearly all requests would end with 404."""
    for part in (case.query, case.body):
        if isinstance(part, dict) and {"task", "video"} <= set(part):
            part.update(FIRST)
            if "source" in part:
                part["source"] = "this:supervised"


def test_the_schema_lists_every_route(operations):
    assert set(operations) == OPERATIONS


@pytest.mark.parametrize("mode", ["POSITIVE", "NEGATIVE"])
@pytest.mark.parametrize("label", sorted(OPERATIONS))
def test_generated_requests_get_responses_of_the_schema(operations, label, mode):
    operation = operations[label]
    if mode == "NEGATIVE" and label in {"GET /api/run", "GET /api/learning"}:
        pytest.skip("it takes nothing, so nothing can be wrong")

    @settings(max_examples=30, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
    @given(operation.as_strategy(generation_mode=schemathesis.GenerationMode[mode]), st.booleans())
    def ask(case, known):
        if known and mode == "POSITIVE":
            name_a_real_video(case)
        response = case.call(headers=OURS)
        assert response.status_code < 500, response.text
        case.validate_response(response)

    ask()
