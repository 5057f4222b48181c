"""The verbs `review …`: verdicts are exported, imported, listed, and applied to gold."""
