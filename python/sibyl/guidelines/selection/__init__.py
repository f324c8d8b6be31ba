"""What was learned, as tables of algorithms that Sibyl, Open MPI and MPICH read."""
