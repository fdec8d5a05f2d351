import {expect, test} from 'vitest';
import {formatSshEndpoint, parseSshEndpoint} from '../../src/remote/ssh-endpoint.js';

test.each([
  ['ssh://node', {host: 'node'}],
  ['ssh://node/', {host: 'node'}],
  ['ssh://root@node', {user: 'root', host: 'node'}],
  [
    'ssh://core@10.0.0.5:2222/run/crio/crio.sock',
    {user: 'core', host: '10.0.0.5', port: 2222, socketPath: '/run/crio/crio.sock'},
  ],
  ['ssh://[::1]:22', {host: '::1', port: 22}],
  ['ssh://[fe80::1%eth0]', {host: 'fe80::1%eth0'}],
  ['ssh://svc_a.b$@node-1.example.org', {user: 'svc_a.b$', host: 'node-1.example.org'}],
])('%s is parsed, and formatted again', (text, expected) => {
  const parsed = parseSshEndpoint(text);
  expect(parsed).toEqual({user: undefined, port: undefined, socketPath: undefined, ...expected});
  expect(formatSshEndpoint(parsed)).toBe(text.replace(/node\/$/, 'node'));
});

test.each([
  ['ssh://-oProxyCommand=touch%20x', 'host'],
  ['ssh://', 'host'],
  ['ssh:/run/x.sock', 'host'],
  ['ssh:node', 'host'],
  ['ssh://a b', 'host'],
  ['ssh://no[de', 'host'],
  ['ssh://[node]', 'host'],
  ['ssh://::1', 'host'],
  ['ssh://node;reboot', 'host'],
  ['ssh://@node', 'user'],
  ['ssh://-l@node', 'user'],
  ['ssh://ro ot@node', 'user'],
  ['ssh://$(id)@node', 'user'],
  ['ssh://node:0', 'port'],
  ['ssh://node:65536', 'port'],
  ['ssh://node:', 'port'],
  ['ssh://node:-p', 'port'],
  ['ssh://node/run/a:b.sock', 'socket path'],
  ['ssh://node/${HOME}/x', 'socket path'],
  ['ssh://node/%h', 'socket path'],
  ["ssh://node/a'b", 'socket path'],
  ['ssh://node/a\nb', 'socket path'],
])('%j is rejected for its %2$s', (text, part) => {
  expect(() => parseSshEndpoint(text)).toThrow(`the endpoint ${JSON.stringify(text)} has an invalid ${part}`);
});

test.each(['ssh://root:secret@node', 'ssh://:secret@node', 'ssh://root:se@cret@node/x'])(
  'a password is rejected and not shown: %#',
  (text) => {
    expect(() => parseSshEndpoint(text)).toThrow(/^the ssh endpoint must not contain a password$/);
  },
);
