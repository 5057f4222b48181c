"""What the criterion decides: gaps, ladders, overlap curves, sensitivity, rescued errors and proxy criteria."""
