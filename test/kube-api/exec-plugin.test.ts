import {chmod, mkdtemp, readFile, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import {ApiClient} from '../../src/kube-api/api-client.js';
import {HttpConnection} from '../../src/kube-api/http-connection.js';
import {openCredentials, type FileCredentials} from '../../src/kube-api/kubeconfig/credentials.js';
import {parseExecCredential} from '../../src/kube-api/kubeconfig/exec-plugin.js';
import {parseKubeconfig} from '../../src/kube-api/kubeconfig/parse-kubeconfig.js';
import {createSelfSignedPair} from '../../src/format/x509/self-signed-certificate.js';
import {FakeApiServer} from '../fakes/api-server/fake-api-server.js';
import {FakeClock, TEST_TIME_MS} from '../fakes/fake-clock.js';

const VERSION = 'client.authentication.k8s.io/v1';
const NEVER = new AbortController().signal;

let directory = '';
let clock = new FakeClock();
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'kcri-exec-plugin-'));
  clock = new FakeClock({nowMs: TEST_TIME_MS});
});
afterEach(async () => {
  await rm(directory, {recursive: true});
});

/** Writes a plugin that counts its runs in the file `runs`. */
async function writePlugin(script: string): Promise<void> {
  await writeFile(join(directory, 'plugin'), `#!/bin/sh\necho run >> "${directory}/runs"\n${script}\n`);
  await chmod(join(directory, 'plugin'), 0o755);
}

async function runs(): Promise<number> {
  const text = await readFile(join(directory, 'runs'), 'utf8').catch(() => '');
  return text.split('\n').length - 1;
}

function printing(status: object): string {
  return `cat <<'END'\n${JSON.stringify({apiVersion: VERSION, kind: 'ExecCredential', status})}\nEND`;
}

/** Opens the credentials of a kubeconfig next to the plugin; its path is relative. */
async function open(fields: object = {}, cluster: object = {}): Promise<FileCredentials> {
  const exec = {
    command: './plugin',
    apiVersion: VERSION,
    interactiveMode: 'Never',
    args: null,
    env: null,
    ...fields,
  };
  const config = {
    'current-context': 'node',
    clusters: [{name: 'home', cluster: {server: 'https://10.0.0.1:6443', ...cluster}}],
    users: [{name: 'me', user: {exec}}],
    contexts: [{name: 'node', context: {cluster: 'home', user: 'me'}}],
  };
  const file = join(directory, 'config');
  return await openCredentials(parseKubeconfig(JSON.stringify(config), file), {file, clock});
}

const inSeconds = (seconds: number): string => new Date(clock.now() + seconds * 1000).toISOString();

describe('an exec plugin', () => {
  test('runs when its token is needed first and when it has expired, once for many requests', async () => {
    await writePlugin(printing({token: 'first', expirationTimestamp: inSeconds(600)}));
    const source = await open();
    expect(await runs()).toBe(0);
    const all = await Promise.all([1, 2, 3].map(async () => source.current()));
    expect(all.map(({token}) => token)).toEqual(['first', 'first', 'first']);
    await clock.advance(599_000);
    await writePlugin(printing({token: 'second'}));
    expect((await source.current()).token).toBe('first');
    await clock.advance(1000);
    expect((await source.current()).token).toBe('second');
    await clock.advance(86_400_000);
    expect((await source.current()).token).toBe('second');
    expect(await runs()).toBe(2);
  });

  test('gets its arguments, its variables, those of the kubelet, and a description of the cluster', async () => {
    await writePlugin(`echo "$KUBERNETES_EXEC_INFO" > "${directory}/info"\n${printing({token: 'a'})}`);
    await writeFile(join(directory, 'seen'), '');
    const ca = createSelfSignedPair({
      commonName: 'ca',
      names: [],
      notBeforeMs: 0,
      notAfterMs: 4e12,
    }).certificate;
    const extensions = [{name: 'client.authentication.k8s.io/exec', extension: {audience: 'me'}}];
    const authority = Buffer.from(ca).toString('base64');
    const source = await open(
      {provideClusterInfo: true},
      {'certificate-authority-data': authority, 'tls-server-name': 'api', extensions},
    );
    await source.current();
    expect(JSON.parse(await readFile(join(directory, 'info'), 'utf8'))).toEqual({
      kind: 'ExecCredential',
      apiVersion: VERSION,
      spec: {
        interactive: false,
        cluster: {
          server: 'https://10.0.0.1:6443',
          'tls-server-name': 'api',
          'certificate-authority-data': authority,
          config: {audience: 'me'},
        },
      },
    });
    await writePlugin(`echo "$1 $A \${PATH:+path}" > "${directory}/seen"\n${printing({token: 'a'})}`);
    await (await open({args: ['get'], env: [{name: 'A', value: 'b'}]})).current();
    expect(await readFile(join(directory, 'seen'), 'utf8')).toBe('get b path\n');
  });

  test('can return a client certificate, which stays the same until it is renewed', async () => {
    const pairs = [0, 1].map(() =>
      createSelfSignedPair({commonName: 'node', names: [], notBeforeMs: 0, notAfterMs: 4e12}),
    );
    const certificate = (index: number): string =>
      printing({
        clientCertificateData: pairs[index]!.certificate,
        clientKeyData: pairs[index]!.key,
        expirationTimestamp: inSeconds(60),
      });
    await writePlugin(certificate(0));
    const source = await open();
    const first = await source.current();
    expect(first.tls).toMatchObject({cert: pairs[0]!.certificate, key: pairs[0]!.key});
    await clock.advance(60_000);
    expect((await source.current()).tls).toBe(first.tls);
    await writePlugin(certificate(1));
    await clock.advance(60_000);
    expect((await source.current()).tls.cert).toBe(pairs[1]!.certificate);
  });

  test('that does not exist is an error at the start, with its hint', async () => {
    const failed = open({command: 'no-such-plugin', installHint: 'apt install no-such-plugin'});
    await expect(failed).rejects.toMatchObject({
      message: expect.stringContaining(
        'users[me].exec.command: executable "no-such-plugin" not found',
      ) as string,
      hint: 'apt install no-such-plugin',
    });
  });

  test('that fails is reported with the beginning of what it wrote, and is not run on each request', async () => {
    await writePlugin('echo "not logged in" >&2; head -c 100000 /dev/zero | tr "\\0" x >&2; exit 7');
    const source = await open();
    const failure = async (): Promise<string> => source.current().then(String, String);
    expect(await failure()).toContain('plugin": failed with exit code 7: not logged in');
    expect((await failure()).length).toBeLessThan(1300);
    expect(await runs()).toBe(1);
    await writePlugin(printing({token: 'a'}));
    await clock.advance(5000);
    expect((await source.current()).token).toBe('a');
  });

  test('that writes without end is killed', async () => {
    await writePlugin('exec cat /dev/zero');
    await expect((await open()).current()).rejects.toThrow('plugin": The operation was aborted');
  });

  test('runs again when the API server answers with 401', async () => {
    await using api = await FakeApiServer.start({token: 'second'});
    api.create('/api/v1/nodes/a', {kind: 'Node'});
    await writePlugin(printing({token: 'first'}));
    const source = await open();
    const connection = new HttpConnection(new URL(api.url), source, {clock});
    const client = new ApiClient({connection, userAgent: 'kcri', clock});
    const get = async (): Promise<unknown> => client.request({method: 'GET', path: '/api/v1/nodes/a'}, NEVER);
    await expect(get()).rejects.toMatchObject({code: 401});
    await writePlugin(printing({token: 'second'}));
    await clock.advance(5000);
    expect(await get()).toMatchObject({kind: 'Node'});
    expect(await runs()).toBe(2);
    connection.close();
  });
});

test.each([
  ['text', 'password', 'the output is not JSON'],
  ['another kind', {kind: 'Secret', apiVersion: VERSION}, 'the output is not an ExecCredential'],
  ['another version', {apiVersion: 'v9', status: {token: 'a'}}, 'plugin returned version v9'],
  ['no status', {}, "exec plugin didn't return a status field"],
  ['nothing', {status: {}}, "exec plugin didn't return a token or cert/key pair"],
  ['half a pair', {status: {clientKeyData: 'a'}}, 'returned only certificate or key, not both'],
  [
    'an invalid pair',
    {status: {clientKeyData: 'a', clientCertificateData: 'b'}},
    'failed parsing client key',
  ],
  ['a token with a line break', {status: {token: 'a\r\nb: c'}}, 'the token contains line breaks'],
  [
    'an invalid time',
    {status: {token: 'a', expirationTimestamp: 'soon'}},
    'expirationTimestamp is not a time',
  ],
])('output with %s is rejected', (_title, fields, message) => {
  const output =
    typeof fields === 'string'
      ? fields
      : JSON.stringify({apiVersion: VERSION, kind: 'ExecCredential', ...fields});
  expect(() => parseExecCredential(output, VERSION)).toThrow(message);
});
