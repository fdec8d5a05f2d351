import {describe, expect, test} from 'vitest';
import {redactSnapshot, redactText} from '../../../src/features/node-archive/redact-snapshot.js';

const SECRET = 'Zx9-very-secret';
const JWT = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ4In0.c2lnbmF0dXJl';

describe('a text loses', () => {
  test.each([
    ['the password of a URL', `postgres://app:${SECRET}@db:5432/x is down`],
    ['the query of a URL', `GET https://x.example/y?sig=${SECRET} failed`],
    ['a private key', `-----BEGIN EC PRIVATE KEY-----\n${SECRET}\n-----END EC PRIVATE KEY-----`],
    ['a private key that is cut off', `-----BEGIN PRIVATE KEY-----\n${SECRET}`],
    ['a token of a service account', `using ${JWT}.`],
    ['a header', `Authorization: Bearer ${SECRET}`],
    ['a basic header', `authorization: Basic ${SECRET}==`],
    ['a setting', `DB_PASSWORD=${SECRET} started`],
    ['a setting in YAML', `apiKey: "${SECRET}"`],
    ['a setting in JSON', `{"client_secret":"${SECRET}","a":1}`],
    ['a flag', `run --token ${SECRET} --port 1`],
    ['a flag with =', `run --registry-password=${SECRET}`],
    ['a key of AWS', `id AKIA${'A1'.repeat(8)}`],
  ])('%s', (_, text) => {
    const masked = redactText(text);
    expect(masked).toContain('***');
    for (const secret of [SECRET, JWT, 'A1A1']) expect(masked).not.toContain(secret);
  });

  test.each([
    'Failed to pull image "registry.example/web:1": not found',
    'Back-off 5m0s restarting failed container=main pod=web_default(u)',
    'dial tcp 10.0.0.1:5432: connect: connection refused',
    'https://registry.example/v2/web/manifests/1: 404',
    'MountVolume.SetUp failed for volume "kube-api-access-x" : secret "x" not found',
    'exec: "server": executable file not found in $PATH',
  ])('nothing of %j', (text) => {
    expect(redactText(text)).toBe(text);
  });
});

test('data lose the values of variables everywhere, and the copy of the manifest', () => {
  const data = {
    metadata: {annotations: {'kubectl.kubernetes.io/last-applied-configuration': SECRET, team: 'a'}},
    spec: {
      containers: [
        {
          args: ['--password', SECRET, '--v', '2'],
          env: [
            {name: 'A', value: SECRET},
            {name: 'PORT', value: '8080'},
            {name: 'B', valueFrom: {secretKeyRef: {name: 'db', key: 'x'}}},
          ],
        },
      ],
    },
    log: [`connecting as ${SECRET}`, 'listening on 8080'],
    token: SECRET,
    serviceAccountName: 'web',
  };
  const redacted = redactSnapshot(data);
  expect(JSON.stringify(redacted)).not.toContain(SECRET);
  expect(redacted).toEqual({
    metadata: {annotations: {team: 'a'}},
    spec: {
      containers: [
        {
          args: ['--password', '***', '--v', '2'],
          env: [
            {name: 'A', value: '***'},
            {name: 'PORT', value: '***'},
            {name: 'B', valueFrom: {secretKeyRef: {name: 'db', key: 'x'}}},
          ],
        },
      ],
    },
    log: ['connecting as ***', 'listening on 8080'],
    token: '***',
    serviceAccountName: 'web',
  });
});

test('facts about secrets that are not secret remain', () => {
  const data = {
    imagePullSecrets: [{name: 'registry'}],
    volumes: [{secret: {secretName: 'db'}}, {projected: {sources: [{serviceAccountToken: {path: 'token'}}]}}],
    automountServiceAccountToken: true,
  };
  expect(redactSnapshot(data)).toEqual(data);
});

test('a variable with the name of an object does not hide that object', () => {
  const data = {
    metadata: {name: 'web', namespace: 'payments'},
    env: [{name: 'POD_NAMESPACE', value: 'payments'}],
    log: ['started in payments'],
  };
  expect(redactSnapshot(data)).toEqual({...data, env: [{name: 'POD_NAMESPACE', value: '***'}]});
});

/** Verbose information of a runtime, as JSON in a text. */
const verboseInfo = (runtimeSpec: object, config: object = {}): object => ({
  info: {info: JSON.stringify({pid: 7, runtimeSpec, config})},
});

describe('verbose information of a runtime loses', () => {
  test.each<[string, object]>([
    ['variables of the process', verboseInfo({process: {env: ['A=b', `LOGIN=${SECRET}`]}})],
    ['variables of the config', verboseInfo({}, {envs: [{key: 'LOGIN', value: SECRET}]})],
    [
      'values of variables elsewhere',
      {...verboseInfo({process: {env: [`LOGIN=${SECRET}`], args: ['run', `-x${SECRET}`]}}), log: SECRET},
    ],
    ['words after flags', verboseInfo({process: {args: ['run', '--password', SECRET]}})],
    ['annotations by their names', verboseInfo({annotations: {'vault.example/token': SECRET}})],
    [
      'annotations that are JSON',
      verboseInfo({
        annotations: {
          'io.kubernetes.cri-o.Annotations': JSON.stringify({
            'kubectl.kubernetes.io/last-applied-configuration': SECRET,
            inner: JSON.stringify({env: [{name: 'LOGIN', value: SECRET}]}),
          }),
        },
      }),
    ],
    ['what is nested too deeply', {annotation: `${'['.repeat(200_000)}"${SECRET}"${']'.repeat(200_000)}`}],
  ])('%s', (_, data) => {
    const text = JSON.stringify(redactSnapshot(data));
    expect(text).not.toContain(SECRET);
    expect(text).toContain('***');
  });

  test('nothing else, and large numbers as they are', () => {
    const info = '{"runtimeSpec":{"linux":{"limit":9223372036854771712}},"pid":7}';
    expect(redactSnapshot({info: {info}})).toEqual({info: {info}});
    const masked = redactSnapshot({
      info: `{"envs":[{"key":"A","value":"${SECRET}"}],"limit":9223372036854771712}`,
    });
    expect(masked).toEqual({info: '{"envs":[{"key":"A","value":"***"}],"limit":9223372036854771712}'});
  });
});

test('variables whose values are words of kcri or directories do not damage the archive', () => {
  const data = {
    env: ['MODE=kubelet', 'DIR=/var/log', 'PATH=/usr/Local/Bin', `KEY=${SECRET}`],
    pods: [{manager: 'kubelet', phase: 'Running', path: '/var/log/pods/x', home: '/usr/Local/Bin/x'}],
    line: 'started as kubelet',
    json: '{"state":"kubelet"}',
  };
  expect(redactSnapshot(data)).toEqual({
    ...data,
    env: ['MODE=***', 'DIR=***', 'PATH=***', 'KEY=***'],
    line: 'started as ***',
    json: '{"state":"***"}',
  });
});
