"""Learning from labels while the viewer goes on: one training at a time, in a thread; its proposal waits until it is accepted or discarded."""

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from crosstask.model.model import Model
from crosstask.pipeline.relearning import Proposal, accept, can_undo_learning, learn, undo_learning, why_not_learning
from crosstask.records import FeatureRows, InputError
from crosstask.runs import RunFolder

log = logging.getLogger(__name__)


@dataclass
class BackgroundLearner:
    """Learning for one run; every method returns at once. States: idle, running, ready, failed."""

    run: RunFolder
    load: Callable[[], Model | None]
    features: FeatureRows
    _state: str = "idle"
    _message: str = ""
    _proposal: Proposal | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def start(self) -> dict[str, Any]:
        """Begin to learn, unless a training is running; returns the state."""
        with self._lock:
            if self._state != "running":
                self._state, self._message, self._proposal = "running", "", None
                threading.Thread(target=self._learn, daemon=True).start()
        return self.state()

    def _learn(self) -> None:
        """The body of the thread: whatever happens ends in a state that the page can show."""
        try:
            model = self.load()
            if model is None:
                raise InputError(why_not_learning(self.run, None, self.features))
            proposal = learn(self.run, model, self.features)
        except (InputError, OSError, ValueError, MemoryError) as error:
            log.warning("learning from labels: %s", error)
            self._set("failed", " ".join(str(error).split()) or type(error).__name__, None)
        else:
            self._set("ready", "", proposal)

    def _set(self, state: str, message: str, proposal: Proposal | None) -> None:
        with self._lock:
            self._state, self._message, self._proposal = state, message, proposal

    def accept(self) -> dict[str, Any]:
        """Put the proposal in place; returns the state."""
        with self._lock:
            if self._proposal is None:
                raise InputError("there is no proposal to accept; learn first")
            accept(self.run, self._proposal)
            self._state, self._proposal = "idle", None
        return self.state()

    def undo(self) -> dict[str, Any]:
        """Discard the proposal, or undo the last accepted one; returns the state."""
        with self._lock:
            if self._proposal is not None or self._state == "failed":
                self._state, self._message, self._proposal = "idle", "", None
            elif self._state != "running":
                undo_learning(self.run)
        return self.state()

    def state(self) -> dict[str, Any]:
        """The state, and what the proposal would move."""
        proposal = self._proposal
        moved = [] if proposal is None else proposal.moved
        return {
            "state": self._state,
            "message": self._message,
            "n_labels": 0 if proposal is None else proposal.n_labels,
            "n_steps": len(moved),
            "n_videos": 0 if proposal is None else proposal.n_videos_moved,
            "moved": [
                {
                    "task": one.key.task,
                    "video": one.key.video,
                    "number": one.step + 1,
                    "step": one.after.name,
                    "before_s": one.before.moment_s if one.before.shown else None,
                    "after_s": one.after.moment_s if one.after.shown else None,
                }
                for one in moved
            ],
            "can_undo": can_undo_learning(self.run.folder),
        }
