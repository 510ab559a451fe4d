"""The workloads, one module per framework, the same functions in each."""


def workload(function):
    """Mark a function as a workload."""
    function.is_workload = True
    return function
