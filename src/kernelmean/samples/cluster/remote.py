"""Parts that live on workers: one task per worker and question, on the worker that holds the parts.

Tasks are bound to their worker, so that no part is ever copied to another one; where a worker is
lost, the scheduler makes its parts anew elsewhere, and the question is asked again there. A part
that comes anew has forgotten the centres of a traversal: it says so, and hears them all.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from typing import Any

import dask
from distributed import TimeoutError as Late
from distributed import wait
from distributed.comm import CommClosedError

from kernelmean._types import IntVector
from kernelmean.engines.parts.protocol import Question
from kernelmean.samples.cluster import workers

PATIENCE = 2.0  # seconds after which it is checked whether workers and scheduler are still there
BREATH = 0.05  # seconds between two looks
GONE = "the Dask scheduler is gone (%s): the fit cannot go on; start a scheduler and fit again."


class RemoteParts:
    """Parts of a sample on workers."""

    def __init__(
        self, client: Any, futures: Sequence[Any], sizes: IntVector, dimension: int
    ) -> None:
        self._client = client
        self._futures = list(futures)
        self.sizes = sizes
        self.dimension = dimension
        self._homes: list[str] | None = None

    def each(
        self,
        question: Question,
        *arguments: Any,
        own: Sequence[tuple[Any, ...] | None] | None = None,
    ) -> list[Any]:
        """Every part's answer, in their order; parts whose own arguments are None are not asked."""
        further: Sequence[tuple[Any, ...] | None] = (
            [()] * len(self._futures) if own is None else own
        )
        found: list[Any] = [None] * len(self._futures)
        left = [i for i, mine in enumerate(further) if mine is not None]
        while left:
            asked = self._ask(question, arguments, further, left)
            try:
                for home, (which, future) in asked.items():
                    answers = self._answer(home, future)
                    if answers is not None:
                        for i, answer in zip(which, answers, strict=True):
                            found[i] = answer
                        left = [i for i in left if i not in which]
            finally:
                dropped(self._client, [future for _, future in asked.values()])
            if left:
                self._homes = None
        return found

    def _ask(
        self,
        question: Question,
        arguments: tuple[Any, ...],
        own: Sequence[tuple[Any, ...] | None],
        which: list[int],
    ) -> dict[str, tuple[list[int], Any]]:
        """One task per worker that holds some of these parts."""
        if self._homes is None:
            self._homes = self._found()
        asked: dict[str, tuple[list[int], Any]] = {}
        for home in sorted({self._homes[i] for i in which}):
            here = [i for i in which if self._homes[i] == home]
            parts = [self._futures[i] for i in here]
            mine = [own[i] for i in here]
            with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}):
                task = self._client.submit(
                    workers.answers,
                    parts,
                    question,
                    arguments,
                    mine,
                    workers=[home],
                    pure=False,
                    key=None,
                )
            asked[home] = here, task
        return asked

    def _answer(self, home: str, future: Any) -> list[Any] | None:
        """The answers of one worker; None if it is lost."""
        while True:
            try:
                with connected(self._client):
                    answers: list[Any] = future.result(timeout=PATIENCE)
            except Late:
                if future.status == "error":  # the task's own
                    raise
                present = alive(self._client)
                if present is not None and home not in present:
                    return None
            else:
                return answers

    def _found(self) -> list[str]:
        """Where each part is, once all are there."""
        while True:
            settled(self._client, self._futures)
            with connected(self._client):
                where = self._client.who_has(self._futures)
            homes = [where.get(future.key, ()) for future in self._futures]
            if all(homes):
                # A part that is in several places is asked in one of them, always the same.
                return [min(addresses) for addresses in homes]
            time.sleep(BREATH)  # a worker has just been lost, and its parts are on their way


@contextmanager
def connected(client: Any) -> Iterator[None]:
    """One clear error where the scheduler is lost or the fit is cancelled."""
    try:
        with client.as_current():
            yield
    except CancelledError as error:
        alive(client)
        raise RuntimeError(
            f"the fit was cancelled, or parts of the sample are lost ({error})."
        ) from error
    except CommClosedError as error:
        raise ConnectionError(GONE % error) from error


def alive(client: Any) -> set[str] | None:
    """Addresses of the workers that are there, None where a busy scheduler does not say; a
    ConnectionError where it is gone.
    """
    if client.status != "running":
        raise ConnectionError(GONE % client.status)
    try:
        return set(client.nthreads())
    except Late:
        return None
    except (OSError, CancelledError) as error:
        raise ConnectionError(GONE % error) from error


def settled(client: Any, futures: Sequence[Any]) -> None:
    """Wait until all futures are done; the first error among them is raised here."""
    while True:
        try:
            with connected(client):
                wait(list(futures), timeout=PATIENCE)
        except Late:
            alive(client)
            continue
        failed = next(
            (future for future in futures if future.status in ("error", "cancelled")), None
        )
        if failed is not None:
            with connected(client):
                failed.result(timeout=PATIENCE)
        if all(future.status == "finished" for future in futures):
            return
        time.sleep(BREATH)


def results(client: Any, futures: Sequence[Any]) -> list[Any]:
    """The results of free tasks, in order."""
    try:
        settled(client, futures)
        with connected(client):
            return list(client.gather(list(futures)))
    except BaseException:
        dropped(client, futures)
        raise


def dropped(client: Any, futures: Sequence[Any]) -> None:
    """Cancel what is not done, after an error or Ctrl-C, and what failed.

    The client keeps the error of a failed future, the error its frames, and these the parts of the
    sample on their workers.
    """
    open_ones = [future for future in futures if future.status != "finished"]
    if open_ones and client.status == "running":
        client.cancel(open_ones)
