import type {
  ResolveBehaviour,
  ContainerBehaviour,
  ResolveExec,
} from '../fakes/runtime/container-behaviour.js';

/** Recorded results of command lines that the fake cannot interpret. */
const KNOWN: Readonly<Record<string, ContainerBehaviour>> = {
  // A shell without input.
  sh: {exitCode: 0},
  'sh -c echo 1 > /data/x': {exitCode: 0},
  'sh -c sleep 1; cat /data/x': {exitCode: 0, runForMs: 1000},
  'sh -c x=a; while :; do x=$x$x; done': {exitCode: 137, runForMs: 500, oomKilled: true},
  'sh -c echo -n bye > /dev/termination-log; exit 1': {exitCode: 1, files: {'/dev/termination-log': 'bye'}},
  'sh -c echo custom > /tmp/msg; exit 0': {exitCode: 0, files: {'/tmp/msg': 'custom\n'}},
  'sh -c echo line1; echo line2 >&2; exit 2': {exitCode: 2, stdout: 'line1\n', stderr: 'line2\n'},
  'sh -c while :; do i=0; while [ $i -lt 200 ]; do echo 0123456789012345678901234567890123456789012345678901234567890123456789; i=$((i+1)); done; sleep 1; done':
    {stdout: `${'0123456789'.repeat(7)}\n`.repeat(200), repeatsEveryMs: 1000},
  '/no/such/binary': {
    startError:
      'OCI runtime create failed: runc create failed: unable to start container process: exec: "/no/such/binary": stat /no/such/binary: no such file or directory',
  },
};

/**
 * Returns whether a script has a trap for the stop signal: the main process of a container ignores signals by default.
 */
const STOPS: ResolveBehaviour = (_, argv) => {
  const trap = /trap '(?:sleep (\d+);)?/.exec(argv.join(' '));
  return trap === null ? {ignoresStop: true} : {onStop: {exitCode: 0, afterMs: Number(trap[1] ?? 0) * 1000}};
};

/** Returns the behavior of a container of the recorded cases. */
export const goldenBehaviour: ResolveBehaviour = (config, argv) => {
  const known = KNOWN[argv.join(' ')];
  if (known !== undefined) return known;
  // Endless commands are known by how they end, and the others are interpreted by the fake.
  const runsForever = argv.join(' ').includes('3600') || argv.includes('httpd');
  return runsForever ? STOPS(config, argv) : undefined;
};

/** Returns the recorded results of hooks and probes that the fake cannot interpret. */
export const goldenExec: ResolveExec = (argv, {command}, ranForMs) => {
  const line = argv.join(' ');
  if (line === 'sh -c sleep 2; echo hi > /tmp/p') return {runForMs: 2000};
  if (line === 'id') return {stdout: 'uid=0(root) gid=0(root) groups=0(root)\n'};
  const [, tool, path] = /^(cat|test -f) (\/tmp\/\w+)$/.exec(line) ?? [];
  if (path === undefined || exists(path, command.at(-1) ?? '', ranForMs)) return undefined;
  const stderr = `cat: can't open '${path}': No such file or directory\n`;
  return {exitCode: 1, ...(tool === 'cat' && {stderr})};
};

/** Returns whether a script that has run for some time has created the file and not removed it. */
function exists(path: string, script: string, ranForMs: number): boolean {
  let at = 0;
  let found = false;
  for (const step of script.split(';').map((part) => part.trim())) {
    const [, seconds] = /^sleep (\d+)/.exec(step) ?? [];
    at += Number(seconds ?? 0) * 1000;
    if (at > ranForMs) return found;
    if (step === `touch ${path}`) found = true;
    if (step === `rm ${path}`) found = false;
  }
  return found;
}
