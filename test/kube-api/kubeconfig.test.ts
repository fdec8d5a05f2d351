import {mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import {ConfigError} from '../../src/base/errors.js';
import {openCredentials} from '../../src/kube-api/kubeconfig/credentials.js';
import {parseKubeconfig, type ClusterAccess} from '../../src/kube-api/kubeconfig/parse-kubeconfig.js';
import {createSelfSignedPair} from '../../src/format/x509/self-signed-certificate.js';
import {FakeClock, TEST_TIME_MS} from '../fakes/fake-clock.js';

/** Returns a kubeconfig in YAML with fields of its cluster and its user. */
function kubeconfig(cluster: string, user = 'token: secret', context = 'node'): string {
  return `apiVersion: v1
kind: Config
current-context: ${context}
clusters:
- name: home
  cluster: {${cluster}}
users:
- name: me
  user: {${user}}
contexts:
- name: node
  context: {cluster: home, user: me}
`;
}

const BETA = 'apiVersion: client.authentication.k8s.io/v1beta1';
const SERVER = 'server: "https://10.0.0.1:6443"';

describe('a kubeconfig', () => {
  test('has the server, CA and credentials of the current context; paths are relative to it', () => {
    const text = kubeconfig(
      `${SERVER}, certificate-authority: ca.crt, tls-server-name: api`,
      'client-certificate: /pki/me.crt, client-key-data: a2V5',
    );
    const {server, tlsServerName, verifiesServer, certificateAuthority, clientCertificate, clientKey} =
      parseKubeconfig(text, '/etc/kcri/kubelet.conf');
    expect({server: server.href, tlsServerName, verifiesServer}).toEqual({
      server: 'https://10.0.0.1:6443/',
      tlsServerName: 'api',
      verifiesServer: true,
    });
    expect(certificateAuthority).toMatchObject({kind: 'file', path: '/etc/kcri/ca.crt'});
    expect(clientCertificate).toMatchObject({kind: 'file', path: '/pki/me.crt'});
    expect(clientKey).toMatchObject({kind: 'inline', text: 'key'});
  });

  test.each<[string, string, string]>([
    ['an empty file', '', 'it is empty'],
    ['a syntax error', 'a: [', 'invalid kubeconfig "k"'],
    ['another manifest', 'apiVersion: v1\nkind: Pod\n', 'kind: Invalid value: "Pod": must be Config'],
    ['no current context', kubeconfig(SERVER, undefined, '""'), 'current-context: Required value'],
    ['an unknown context', kubeconfig(SERVER, undefined, 'x'), 'current-context: Invalid value: "x"'],
    ['no server', kubeconfig('tls-server-name: a'), 'clusters[home].server: Required value'],
    ['a server that is not a URL', kubeconfig('server: host/path'), 'must be an http or https URL'],
    [
      'a proxy of another protocol',
      kubeconfig(`${SERVER}, proxy-url: "ftp://p"`),
      'clusters[home].proxy-url: Invalid',
    ],
    [
      'a proxy without host',
      kubeconfig(`${SERVER}, proxy-url: "10.0.0.1"`),
      'must be a URL with the scheme http',
    ],
    [
      'a plugin without command',
      kubeconfig(SERVER, `exec: {${BETA}}`),
      'users[me].exec.command: Required value',
    ],
    [
      'a plugin without version',
      kubeconfig(SERVER, 'exec: {command: a}'),
      'exec.apiVersion: Unsupported value: ""',
    ],
    [
      'a plugin of a removed version',
      kubeconfig(SERVER, 'exec: {command: a, apiVersion: client.authentication.k8s.io/v1alpha1}'),
      'exec.apiVersion: Unsupported value: "client.authentication.k8s.io/v1alpha1"',
    ],
    [
      'a plugin without interactive mode',
      kubeconfig(SERVER, 'exec: {command: a, apiVersion: client.authentication.k8s.io/v1}'),
      'exec.interactiveMode: Required value',
    ],
    [
      'a plugin that needs a terminal',
      kubeconfig(SERVER, `exec: {command: a, ${BETA}, interactiveMode: Always}`),
      'Always cannot be satisfied',
    ],
    [
      'a variable without name',
      kubeconfig(SERVER, `exec: {command: a, ${BETA}, env: [{value: "1"}]}`),
      'exec.env[0].name: Required value',
    ],
    ['an unknown user', kubeconfig(SERVER).replace('user: me', 'user: you'), 'there is no such user'],
    [
      'two users of one name',
      kubeconfig(SERVER).replace('users:', 'users:\n- name: me'),
      'users: Duplicate value: "me"',
    ],
    ['a password', kubeconfig(SERVER, 'username: a'), 'users[me].username is not supported'],
    [
      'a CA twice',
      kubeconfig(`${SERVER}, certificate-authority: a, certificate-authority-data: YQ==`),
      'certificate-authority and certificate-authority-data may not be set together',
    ],
    [
      'a CA that is not used',
      kubeconfig(`${SERVER}, certificate-authority: a, insecure-skip-tls-verify: true`),
      'insecure-skip-tls-verify: Forbidden',
    ],
    [
      'a certificate without key',
      kubeconfig(SERVER, 'client-certificate: a'),
      'client-key is required with client-certificate',
    ],
    [
      'data that is not base64',
      kubeconfig(`${SERVER}, certificate-authority-data: "-"`),
      'certificate-authority-data: Invalid value: must be base64',
    ],
    ['a value of another type', kubeconfig(`${SERVER}, insecure-skip-tls-verify: 1`), 'must be a boolean'],
  ])('with %s is rejected with a remedy', (_title, text, message) => {
    let error: unknown;
    try {
      parseKubeconfig(text, 'k');
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(ConfigError);
    expect((error as ConfigError).message).toContain(message);
    expect((error as ConfigError).hint).not.toBe('');
  });

  const access = (text: string): ClusterAccess => parseKubeconfig(text, '/k');

  test.each([
    ['without fields', kubeconfig(SERVER, '')],
    ['that is null', kubeconfig(SERVER).replace('user: {token: secret}', 'user:')],
    ['that the context does not name', kubeconfig(SERVER).replace(', user: me}', '}')],
  ])('with a user %s is anonymous', (_title, text) => {
    const {token, clientCertificate, exec} = access(text);
    expect({token, clientCertificate, exec}).toEqual({});
  });

  test.each([
    ['10.0.0.1:6443', 'http://10.0.0.1:6443/'],
    ['localhost:8080', 'http://localhost:8080/'],
    ['api', 'http://api/'],
    ['http://api/prefix', 'http://api/prefix'],
  ])('with the server %s has no TLS, and no credentials in clear text', (server, url) => {
    const user =
      'token: a, tokenFile: missing, username: a, client-certificate: missing, client-key: missing';
    const found = access(kubeconfig(`server: "${server}", certificate-authority: missing`, user));
    expect(found.server.href).toBe(url);
    const {token, clientCertificate, certificateAuthority} = found;
    expect({token, clientCertificate, certificateAuthority}).toEqual({});
    expect(access(kubeconfig(`server: "${server}"`).replace('user: me', 'user: you')).token).toBeUndefined();
  });

  test('with a plugin and a token uses the token', () => {
    const {exec, token} = access(kubeconfig(SERVER, `token: a, exec: {command: a, ${BETA}}`));
    expect({exec, token}).toMatchObject({exec: undefined, token: {text: 'a'}});
  });

  test('with a key but no certificate does not use the key', () => {
    expect(access(kubeconfig(SERVER, 'client-key: a, token: b')).clientKey).toBeUndefined();
  });

  test('may have empty names, empty lists and more documents', () => {
    const text = `clusters: [{cluster: {${SERVER}}}]
users: [{user: {token: a, as-groups: []}}]
contexts: [{name: node, context: {}}]
current-context: node
---
other: document
`;
    expect(access(text).token).toMatchObject({text: 'a'});
  });

  test('a secret is not shown in a message', () => {
    expect(() => parseKubeconfig(kubeconfig(SERVER, 'token: 12345'), 'k')).toThrow(/token/);
    expect(() => parseKubeconfig(kubeconfig(SERVER, 'token: 12345'), 'k')).not.toThrow(/12345/);
  });
});

describe('credentials', () => {
  let directory = '';
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'kcri-kubeconfig-'));
  });
  afterEach(async () => {
    await rm(directory, {recursive: true});
  });

  const open = async (user: string, clock = new FakeClock({nowMs: TEST_TIME_MS})) => {
    const file = join(directory, 'config');
    return await openCredentials(parseKubeconfig(kubeconfig(SERVER, user), file), {file, clock});
  };

  test('a token file is read again after a minute', async () => {
    const clock = new FakeClock({nowMs: TEST_TIME_MS});
    await writeFile(join(directory, 'token'), 'first\n');
    const source = await open('tokenFile: token', clock);
    await writeFile(join(directory, 'token'), 'second\n');
    expect((await source.current()).token).toBe('first');
    await clock.advance(60_000);
    expect((await source.current()).token).toBe('second');
  });

  test('a file that disappears later leaves the last credentials in use', async () => {
    const clock = new FakeClock({nowMs: TEST_TIME_MS});
    await writeFile(join(directory, 'token'), 'first');
    const source = await open('tokenFile: token', clock);
    await rm(join(directory, 'token'));
    await clock.advance(60_000);
    expect((await source.current()).token).toBe('first');
  });

  test('a token that was rejected is read again at once', async () => {
    await writeFile(join(directory, 'token'), 'first');
    const source = await open('tokenFile: token');
    await writeFile(join(directory, 'token'), 'second');
    source.rejected?.(await source.current());
    expect((await source.current()).token).toBe('second');
  });

  test('a token is used until the file with the token can be read', async () => {
    const clock = new FakeClock({nowMs: TEST_TIME_MS});
    const source = await open('token: first, tokenFile: token', clock);
    expect((await source.current()).token).toBe('first');
    await writeFile(join(directory, 'token'), 'second');
    await clock.advance(60_000);
    expect((await source.current()).token).toBe('second');
  });

  test('a token file that is emptied leaves the last token in use', async () => {
    const clock = new FakeClock({nowMs: TEST_TIME_MS});
    await writeFile(join(directory, 'token'), 'first');
    const source = await open('tokenFile: token', clock);
    await writeFile(join(directory, 'token'), '');
    await clock.advance(60_000);
    expect((await source.current()).token).toBe('first');
    await expect(open('tokenFile: token')).rejects.toThrow('users[me].tokenFile: the token is empty');
  });

  test('a missing file is an error with field and path', async () => {
    await expect(open('tokenFile: token')).rejects.toThrow(/users\[me\]\.tokenFile: cannot read ".*token"/);
  });

  test('an expired certificate, a foreign key and text that is not PEM are errors', async () => {
    const [own, other] = [0, 1].map(() =>
      createSelfSignedPair({
        commonName: 'node',
        names: [],
        notBeforeMs: TEST_TIME_MS,
        notAfterMs: TEST_TIME_MS + 86_400_000,
      }),
    );
    await writeFile(join(directory, 'own.crt'), own!.certificate);
    await writeFile(join(directory, 'own.key'), own!.key);
    await writeFile(join(directory, 'other.key'), other!.key);
    const pair = 'client-certificate: own.crt, client-key: own.key';
    expect((await (await open(pair)).current()).tls.cert).toBe(own!.certificate);
    await expect(open('client-certificate: own.crt, client-key: other.key')).rejects.toThrow(
      'does not match',
    );
    await expect(open('client-certificate: own.key, client-key: own.key')).rejects.toThrow(
      'not a PEM certificate',
    );
    await expect(open(pair, new FakeClock({nowMs: TEST_TIME_MS + 86_400_000}))).rejects.toThrow(
      'the certificate expired on',
    );
  });
});

test('a file of another kind is not quoted', () => {
  const passwd = 'root:x:0:0:root:/root:/bin/bash\ndaemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin\n';
  expect(() => parseKubeconfig(passwd, 'k')).toThrow(
    'invalid kubeconfig "k": it must be a mapping of fields',
  );
});
