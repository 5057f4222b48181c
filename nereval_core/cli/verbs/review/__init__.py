"""The verbs `review …`: verdicts out of a store, into it, read, and applied to gold."""
