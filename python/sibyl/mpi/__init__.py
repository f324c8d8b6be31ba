"""MPI installations as the command sees them: find one, start a job under it, read its reports."""
