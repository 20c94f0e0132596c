//! Load tests: Latte's workloads, three kinds of target, honest latencies.
