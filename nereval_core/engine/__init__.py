"""Scoring shard by shard, in one process or on a cluster.

A corpus lies in many files, the shards; a document never spans two of them. `shards` lists and pairs them by name,
`work.score_shard` counts one, `run` does so over all of them, `merged` adds the counts up into what reports take, and
`folder` leaves everything behind as a scored folder. What is counted in integers adds up as it is, macro averages as
exact sums (`means`), digests as hashes of documents: so the result is that of one process, bit for bit, whatever the
shards.
"""
