"""What is counted since the start, and the page by which Prometheus reads it."""
