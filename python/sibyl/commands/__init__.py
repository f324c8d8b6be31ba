"""The bodies of the command's subcommands, one file each."""
