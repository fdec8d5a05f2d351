#!/bin/sh
# Runs a Pod manifest as a job in CI: prints its logs, writes JUnit XML, leaves nothing behind, and exits with the exit
# code of the container, with 124 after the time limit, or with 143 if CI cancels the job.
#   examples/ci.sh [MANIFEST [JUNIT_FILE]]
# Environment: KCRI (the program), TIME_LIMIT (such as 10m), SYNC_FLAGS (more flags of kcri sync), and IMAGE_ARCHIVE (an
# image to load into a runtime that this script starts).
set -eu

manifest=${1:-$(dirname "$0")/job.yaml}
results=${2:-results.xml}
kcri=${KCRI:-kcri}
time_limit=${TIME_LIMIT:-10m}
started=
job=

# Runs at every exit. The exit code stays that of the job.
clean_up() {
  status=$?
  trap - EXIT
  trap '' INT TERM
  if [ -n "$started" ]; then "$kcri" runtime down || true; fi
  exit "$status"
}
trap clean_up EXIT

# Without a container runtime on the machine, starts a private one for the time of the job.
if ! "$kcri" version >/dev/null 2>&1; then
  started=yes
  CONTAINER_RUNTIME_ENDPOINT=$("$kcri" runtime up)
  export CONTAINER_RUNTIME_ENDPOINT
  if [ -n "${IMAGE_ARCHIVE:-}" ]; then "$kcri" runtime load "$IMAGE_ARCHIVE"; fi
fi

# --replace: a job that ran before runs again. --rm: the pod is deleted, also after a failure or a signal.
"$kcri" sync "$manifest" --wait=complete --replace --rm --logs --timeout="$time_limit" --junit="$results" ${SYNC_FLAGS:-} &
job=$!

# A terminal sends Ctrl-C to kcri too; a CI system may send SIGTERM to this script alone.
trap 'kill -TERM "$job" 2>/dev/null || true' TERM
trap : INT

# A signal interrupts "wait", not kcri, which first deletes the pod.
status=0
wait "$job" || status=$?
while kill -0 "$job" 2>/dev/null; do
  status=0
  wait "$job" || status=$?
done

case $status in
  0) echo "job passed" ;;
  124) echo "job exceeded its time limit of $time_limit" >&2 ;;
  130 | 143) echo "job was cancelled" >&2 ;;
  *) echo "job failed with exit code $status" >&2 ;;
esac
exit "$status"
