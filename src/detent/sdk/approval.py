"""What a custom approver works with."""

from detent.app.approvers import ApprovingApprover, DenyingApprover, FailingApprover
from detent.ports import Answer, Approver, Proposal, Question

__all__ = [
    "Answer",
    "Approver",
    "ApprovingApprover",
    "DenyingApprover",
    "FailingApprover",
    "Proposal",
    "Question",
]
