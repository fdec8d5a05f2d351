import {describe, expect, test} from 'vitest';
import {podUid} from '../../../src/cri/index.js';
import {generateRunName} from '../../../src/operations/run/image-run-configs.js';
import {parseEnvironment} from '../../../src/operations/run/parse-environment.js';
import {parseCapability} from '../../../src/operations/run/parse-capability.js';
import {parseDevice} from '../../../src/features/run/parse-isolation.js';
import {parseMount} from '../../../src/operations/run/parse-mount.js';
import {parseSecurityOptions} from '../../../src/operations/run/parse-security-option.js';
import {parsePublishedPort} from '../../../src/operations/run/parse-published-port.js';
import {parseUser} from '../../../src/operations/run/parse-user.js';
import {parseVolume} from '../../../src/operations/run/parse-volume.js';

describe('parseVolume', () => {
  test.each([
    ['/a:/b', {hostPath: '/a', containerPath: '/b'}],
    ['/a:/b:ro', {hostPath: '/a', containerPath: '/b', readonly: true}],
    [
      '/a:/b:rw,z,rslave',
      {readonly: false, selinuxRelabel: true, propagation: 'PROPAGATION_HOST_TO_CONTAINER'},
    ],
    ['./a:/b', {hostPath: '/work/a'}],
    ['.:/b', {hostPath: '/work'}],
    ['../a:/b', {hostPath: '/a'}],
  ])('%s', (text, mount) => {
    expect(parseVolume(text, '/work')).toMatchObject(mount);
  });

  test.each([
    ['/a', 'must be HOST:CONTAINER'],
    ['data:/b', 'the host path must be absolute or start with "./"'],
    [':/b', 'the host path must be absolute'],
    ['/a:b', 'the path in the container must be absolute'],
    ['/a:/b:x', 'unknown option "x"'],
    ['/a:/b:ro:x', 'must be HOST:CONTAINER'],
  ])('%s is rejected', (text, message) => {
    expect(() => parseVolume(text, '/work')).toThrow(message);
  });
});

describe('parseMount', () => {
  test.each([
    ['type=bind,source=/a,target=/b', {hostPath: '/a', containerPath: '/b'}],
    ['type=bind,src=./a,dst=/b,ro', {hostPath: '/work/a', readonly: true}],
    ['type=bind,src=/a,destination=/b,readonly=false', {hostPath: '/a', containerPath: '/b'}],
    ['type=bind,src=/a,dst=/b,bind-propagation=rslave', {propagation: 'PROPAGATION_HOST_TO_CONTAINER'}],
  ])('%s', (text, mount) => {
    expect(parseMount(text, '/work')).toMatchObject(mount);
  });

  test.each([
    ['source=/a,target=/b', 'type "volume" is not supported'],
    ['type=tmpfs,target=/b', 'type "tmpfs" is not supported'],
    ['type=bind,target=/b', 'source is missing'],
    ['type=bind,source=/a', 'target is missing'],
    ['type=bind,source=/a,target=b', 'the path in the container must be absolute'],
    ['type=bind,source=/a,target=/b,x=1', 'unknown field "x"'],
  ])('%s is rejected', (text, message) => {
    expect(() => parseMount(text, '/work')).toThrow(message);
  });
});

test.each([
  ['/dev/a', {hostPath: '/dev/a', containerPath: '/dev/a', permissions: 'rwm'}],
  ['/dev/a:r', {hostPath: '/dev/a', containerPath: '/dev/a', permissions: 'r'}],
  ['/dev/a:/dev/b', {hostPath: '/dev/a', containerPath: '/dev/b', permissions: 'rwm'}],
  ['/dev/a:/dev/b:rw', {hostPath: '/dev/a', containerPath: '/dev/b', permissions: 'rw'}],
])('--device %s', (text, device) => {
  expect(parseDevice(text)).toEqual(device);
});

test.each(['', 'null', '/dev/a:b', '/dev/a:/dev/b:rw:x', '/dev/a:/dev/b:q'])(
  '--device "%s" is rejected',
  (text) => {
    expect(() => parseDevice(text)).toThrow('invalid --device');
  },
);

test.each([
  [['no-new-privileges'], {noNewPrivs: true}],
  [['no-new-privileges:false'], {noNewPrivs: false}],
  [
    ['seccomp=/p.json', 'apparmor:unconfined'],
    {
      seccomp: {profileType: 'Localhost', localhostRef: '/p.json'},
      apparmor: {profileType: 'Unconfined'},
    },
  ],
  [['seccomp=builtin'], {seccomp: {profileType: 'RuntimeDefault'}}],
])('--security-opt %j', (texts, options) => {
  expect(parseSecurityOptions(texts)).toEqual(options);
});

test.each(['seccomp=p.json', 'apparmor=', 'label=disable', 'no-new-privileges=x'])(
  '--security-opt %s is rejected',
  (text) => {
    expect(() => parseSecurityOptions([text])).toThrow('invalid --security-opt');
  },
);

test('capabilities have the names of the CRI', () => {
  const names = ['net_admin', 'CAP_SYS_PTRACE', 'all'].map((name) => parseCapability(name, 'cap-add'));
  expect(names).toEqual(['NET_ADMIN', 'SYS_PTRACE', 'ALL']);
  expect(() => parseCapability('foo', 'cap-drop')).toThrow('invalid --cap-drop "foo": unknown capability');
});

describe('parsePublishedPort', () => {
  test.each([
    ['8080:80', {hostPort: 8080, containerPort: 80, protocol: 'TCP', hostIp: ''}],
    ['127.0.0.1:53:53/udp', {hostPort: 53, containerPort: 53, protocol: 'UDP', hostIp: '127.0.0.1'}],
    ['[::1]:1:2/SCTP', {hostPort: 1, containerPort: 2, protocol: 'SCTP', hostIp: '::1'}],
  ])('%s', (text, mapping) => {
    expect(parsePublishedPort(text)).toEqual(mapping);
  });

  test.each([
    ['80', 'the port of the host is missing'],
    ['x:80', 'must be [IP:]HOST:CONTAINER'],
    ['0:80', 'port 0 is not between'],
    ['80:65536', 'port 65536 is not between'],
    ['80:80/icmp', 'unknown protocol "icmp"'],
    ['1.2.3:80:80', '"1.2.3" is not an IP address'],
  ])('%s is rejected', (text, message) => {
    expect(() => parsePublishedPort(text)).toThrow(message);
  });
});

test.each([
  ['0', {runAsUser: {value: 0n}}],
  ['alice', {runAsUsername: 'alice'}],
  ['alice:7', {runAsUsername: 'alice', runAsGroup: {value: 7n}}],
])('parseUser %s', (text, user) => {
  expect(parseUser(text)).toEqual(user);
});

test.each([':1', '1:staff', '1:'])('parseUser rejects %s', (text) => {
  expect(() => parseUser(text)).toThrow(`invalid --user "${text}"`);
});

describe('parseEnvironment', () => {
  test('the last value of a name wins, and a name alone takes the value of kcri', () => {
    const files = [{file: 'f', text: '# comment\n\nA=1\r\n  B=2 \nHOME\nUNSET\n'}];
    const parsed = parseEnvironment(files, ['A=3=4', 'E='], {HOME: '/root'});
    expect([...parsed]).toEqual([
      ['A', '3=4'],
      ['B', '2 '],
      ['HOME', '/root'],
      ['E', ''],
    ]);
  });

  test('errors do not show values', () => {
    expect(() => parseEnvironment([], ['=secret'], {})).toThrow(
      'invalid --env "=…": must be NAME=VALUE or NAME',
    );
    expect(() => parseEnvironment([{file: 'f', text: 'A B=secret'}], [], {})).toThrow(
      'invalid variable in line 1 of "f": must be',
    );
  });
});

test.each([
  ['busybox', 'busybox-12345'],
  ['localhost:5000/team/App_1:2@sha256:ab', 'app-1-12345'],
  ['sha256:0123', 'sha256-12345'],
])('the name of a container of %s', (image, name) => {
  expect(generateRunName(image, podUid('12345678-1234'))).toBe(name);
});
