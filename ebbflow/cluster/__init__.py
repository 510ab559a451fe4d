"""Programs of several processes: clusters, servers, and sessions whose graphs run on them."""
