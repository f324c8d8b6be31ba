# Processes that a script has started. Sourced by bash scripts, never run.

descendants() {  # of a process, itself not included
  local child
  for child in $(cat /proc/"$1"/task/*/children 2>/dev/null); do
    echo "$child"
    descendants "$child"
  done
}

# Ends these processes and all that they have started.
end_all() {  # PID...
  local pid pids=()
  for pid in "$@"; do
    mapfile -t -O "${#pids[@]}" pids < <(descendants "$pid")
    pids+=("$pid")
  done
  kill -TERM "${pids[@]}" 2>/dev/null
  sleep 1
  kill -KILL "${pids[@]}" 2>/dev/null
}
