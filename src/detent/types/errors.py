"""Exceptions that cross layers. Outcomes are what a model reads; these end a request or a run."""

from typing import Literal

from detent.types.budget import Shortage

FailureKind = Literal[
    "auth",
    "bad_content",
    "budget",
    "invalid_request",
    "invalid_response",
    "network",
    "not_found",
    "overloaded",
    "prompt_too_long",
    "rate_limit",
    "server",
    "timeout",
]


class ModelFailure(Exception):
    """A model request that gave no usable answer."""

    def __init__(
        self,
        kind: FailureKind,
        message: str,
        *,
        status: int | None = None,
        retry_after: float | None = None,
        exhausted: bool = False,
        attempts: tuple[str, ...] = (),
        window: int = 0,
        tokens: int = 0,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.status = status
        self.retry_after = retry_after
        """Seconds the server asked us to wait; None when it did not say."""
        self.exhausted = exhausted
        """True when every retry was used up (the seeds' RetriesExhausted)."""
        self.attempts = attempts
        """What each attempt met, for diagnosis."""
        self.window = window
        """Of a prompt that was too long: the window, as the provider says; 0: it does not."""
        self.tokens = tokens
        """And how many tokens the prompt has."""


class Overdrawn(ModelFailure):
    """The request was not sent: the account does not hold what it may take."""

    def __init__(self, shortage: Shortage) -> None:
        super().__init__("budget", shortage.message)
        self.shortage = shortage


class NoModel(Exception):
    """Nothing tells which model to use, or how to reach it."""


class BadInput(Exception):
    """Something the user gave is wrong; the message says what and where."""


class PromptBlocked(Exception):
    """A hook refused a prompt before the model saw it."""
