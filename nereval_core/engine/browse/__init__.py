"""Scored folders as pages read them: columns beside the counts, mapped, and looked up record by record.

`shard` writes what is known of one shard when it is scored, `index` what is known of all when the last one is done, and
`folder` opens both: nothing is loaded but what is looked at. `ledger` answers what pages ask of match records.

    DIR/columns/KEY.columns             a shard's documents and gold spans, or its predictions and records by criterion
    DIR/index/SYSTEM.CRITERION.columns  the classes of all records, and how many of each every shard has (by number)
    DIR/index/documents.columns         in which shard each document is
"""
