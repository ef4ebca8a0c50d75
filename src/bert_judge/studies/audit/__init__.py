"""The audit of a judge: which wrong answers it accepts, and which changes that mean nothing change its verdict."""

from bert_judge.studies.audit.items import AuditItem, Trial, items_of, load_items
from bert_judge.studies.audit.trials import FAMILIES, PLAIN, Audit, Gate, assess_trials, make_trials

__all__ = [
    "FAMILIES",
    "PLAIN",
    "Audit",
    "AuditItem",
    "Gate",
    "Trial",
    "assess_trials",
    "items_of",
    "load_items",
    "make_trials",
]
