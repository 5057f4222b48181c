"""Results of verbs as tables to be read, one long table, JSON and figures: a file for each verb that has its own."""
