"""The influence of the matching criterion: gaps, ladders, overlap curves, sensitivity, recovered spans, proxies."""
