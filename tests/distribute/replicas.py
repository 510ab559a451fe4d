"""What tests of several replicas share."""


def of_each(strategy, function):
    """Return what the function gives for the number of each replica, as values of the replicas."""
    return strategy.experimental_distribute_values_from_function(
        lambda context: function(context.replica_id_in_sync_group)
    )
