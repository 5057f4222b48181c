"""Scoring shard by shard, in one process or on a cluster.

A corpus is spread over many files, the shards; each document is in one of them. `shards` lists and pairs them by name,
`work.score_shard` counts one, `run` runs it over all of them, `merged_scores` adds the counts up to the scores that
reports take, and `scored_folder` writes and opens the result. Counts add up as integers, macro averages as exact sums
(`tally.Mean`), digests as hashes of documents: the result is that of one process, bit for bit, whatever the shards.
`folder_records` gives a ledger the records of a scored folder, of `record_columns` and `record_index`.
"""
