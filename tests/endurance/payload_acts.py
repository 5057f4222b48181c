ACTS = ()
