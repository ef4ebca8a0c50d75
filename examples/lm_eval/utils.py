"""What `questions.yaml` names: the judge, and what reads its verdicts."""

from bert_judge.integrations.lm_eval import judged, process_results

__all__ = ["process_results", "starter"]

starter = judged("starter", question="question", reference="references")
