"""What verdicts are worth: a judge against people, run against run, attacks, and accuracy with the judge's error out."""
