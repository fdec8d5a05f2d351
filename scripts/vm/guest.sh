#!/bin/sh
# Runs in the virtual machine of `npm run test:vm`: the command of /kcri/vm-command, and then writes the report to the disk for
# the results, as an archive.
set -u
mkdir -p /kcri/vm-results
# Through a pipe, so that vitest does not see a terminal.
{
  . /kcri/vm-command
  echo "$?" > /kcri/vm-results/exit-code
} 2>&1 | cat
journalctl --no-pager -b -o short-monotonic > /kcri/vm-results/journal.txt
tar -cf /dev/disk/by-id/virtio-results -C /kcri/vm-results .
sync
