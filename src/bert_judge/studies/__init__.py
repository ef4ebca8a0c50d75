"""What verdicts are worth: judges against human labels, run against run, and accuracy without the judge's error."""
