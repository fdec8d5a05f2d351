import {execFileSync} from 'node:child_process';
import {expect, test} from 'vitest';
import {
  forwardArguments,
  masterArguments,
  sessionArguments,
  tryCommand,
} from '../../src/remote/ssh-arguments.js';
import {parseSshEndpoint} from '../../src/remote/ssh-endpoint.js';

const MASTER = {controlPath: '/d/control', batch: true, connectTimeoutMs: 1500};

const optionsOf = (args: readonly string[]): readonly string[] =>
  args.flatMap((arg, at) => (args[at - 1] === '-o' ? [arg] : []));

test('user, port and host are separate words after which ssh reads no options', () => {
  const args = masterArguments(parseSshEndpoint('ssh://core@node:2222'), MASTER);
  expect(args.slice(-7)).toEqual(['-l', 'core', '-p', '2222', '--', 'node', 'cat']);
  expect(args).toEqual(expect.arrayContaining(['-T', '-a', '-x']));
});

test('the connection overrides forwardings, commands and sharing of the configuration of the user', () => {
  const options = optionsOf(masterArguments(parseSshEndpoint('ssh://node'), MASTER));
  expect(options).toEqual(
    expect.arrayContaining([
      'ControlMaster=yes',
      'ControlPath=/d/control',
      'ControlPersist=no',
      'ClearAllForwardings=yes',
      'PermitLocalCommand=no',
      'RemoteCommand=none',
      'StreamLocalBindMask=0177',
      'ConnectTimeout=2',
    ]),
  );
});

test.each([
  [true, 1],
  [false, 0],
])('with batch %s, ssh asks nothing', (batch, count) => {
  const options = optionsOf(masterArguments(parseSshEndpoint('ssh://node'), {...MASTER, batch}));
  expect(options.filter((option) => option === 'BatchMode=yes')).toHaveLength(count);
});

test('forwardings lead from private sockets to sockets and ports, and never to a port of this machine', () => {
  const args = forwardArguments('/d/control', [
    {local: '/d/0', target: {socketPath: '/run/containerd/containerd.sock'}},
    {local: '/d/1', target: {host: '127.0.0.1', port: 40_000}},
    {local: '/d/2', target: {host: '::1', port: 40_000}},
  ]);
  expect(args.filter((_, at) => args[at - 1] === '-L')).toEqual([
    '/d/0:/run/containerd/containerd.sock',
    '/d/1:127.0.0.1:40000',
    '/d/2:[::1]:40000',
  ]);
});

test('commands on a lost connection never open another one', () => {
  for (const args of [
    forwardArguments('/d/control', []),
    sessionArguments('/d/control', {command: 'sh'}),
    sessionArguments('/d/control', {subsystem: 'sftp'}),
  ])
    expect(args.slice(0, 6)).toEqual(['-F', 'none', '-o', 'ProxyCommand=false', '-o', 'BatchMode=yes']);
});

test('the hint is a command line that reaches the same node', () => {
  expect(tryCommand(parseSshEndpoint('ssh://root@node:2222/x'))).toBe('ssh -p 2222 root@node true');
  expect(tryCommand(parseSshEndpoint('ssh://node'))).toBe('ssh node true');
});

test('ssh accepts all options', () => {
  // -G prints the configuration without connecting.
  const args = masterArguments(parseSshEndpoint('ssh://root@node:2222'), MASTER);
  const printed = execFileSync('ssh', ['-F', 'none', '-G', ...args], {encoding: 'utf8'});
  expect(printed).toMatch(/^controlmaster true$/m);
  expect(printed).toMatch(/^clearallforwardings yes$/m);
});
