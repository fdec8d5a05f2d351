import type {Behaviour, ContainerBehaviour, ExecBehaviour} from '../fakes/behaviour.js';

/** What the command lines of the recorded cases did, where the fake can't tell it from them. */
const KNOWN: Readonly<Record<string, ContainerBehaviour>> = {
  // A shell without input.
  sh: {exitCode: 0},
  'sh -c echo 1 > /data/x': {exitCode: 0},
  'sh -c sleep 1; cat /data/x': {exitCode: 0, runForMs: 1000},
  'sh -c x=a; while :; do x=$x$x; done': {exitCode: 137, runForMs: 500, oomKilled: true},
  'sh -c echo -n bye > /dev/termination-log; exit 1': {exitCode: 1, files: {'/dev/termination-log': 'bye'}},
  'sh -c echo custom > /tmp/msg; exit 0': {exitCode: 0, files: {'/tmp/msg': 'custom\n'}},
  'sh -c echo line1; echo line2 >&2; exit 2': {exitCode: 2, stdout: 'line1\n', stderr: 'line2\n'},
  '/no/such/binary': {
    startError:
      'OCI runtime create failed: runc create failed: unable to start container process: exec: "/no/such/binary": stat /no/such/binary: no such file or directory',
  },
};

/** Only a script that asks for it hears of the signal to stop: a container's first process is deaf by default. */
const STOPS: Behaviour = (_, argv) => {
  const trap = /trap '(?:sleep (\d+);)?/.exec(argv.join(' '));
  return trap === null ? {ignoresStop: true} : {onStop: {exitCode: 0, afterMs: Number(trap[1] ?? 0) * 1000}};
};

/** What the containers of the recorded cases do. */
export const goldenBehaviour: Behaviour = (config, argv) => {
  const known = KNOWN[argv.join(' ')];
  if (known !== undefined) return known;
  // What runs for ever is told by how it ends; the rest is what the fake reads from command lines.
  const endless = argv.join(' ').includes('3600') || argv.includes('httpd');
  return endless ? STOPS(config, argv) : undefined;
};

/** What the hooks of the recorded cases did, where the fake can't tell it from them. */
export const goldenExec: ExecBehaviour = (argv) =>
  argv.join(' ') === 'sh -c sleep 2; echo hi > /tmp/p' ? {runForMs: 2000} : undefined;
