"""Scored folders as pages read them: columns beside the counts, memory-mapped, and looked up record by record.

`shard` writes the columns of one shard when it is scored, `index` those of all shards after the last one, and `folder`
opens both: only the parts that are used are loaded. `ledger` answers queries over match records.

    DIR/columns/KEY.columns             a shard's documents and gold spans, or its predictions and records by criterion
    DIR/index/SYSTEM.CRITERION.columns  the classes of all records, and how many of each every shard has (by number)
    DIR/index/documents.columns         in which shard each document is
"""
