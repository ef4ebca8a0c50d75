"""What verdicts are worth: a judge against people, run against run, attacks, and accuracy without the judge's error."""
