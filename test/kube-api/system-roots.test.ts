import {mkdir, writeFile} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {expect, test} from 'vitest';
import {ApiClient} from '../../src/kube-api/api-client.js';
import {HttpConnection} from '../../src/kube-api/http-connection.js';
import {readSystemRoots} from '../../src/kube-api/transport/system-roots.js';
import {createSelfSignedPair} from '../../src/format/x509/self-signed-certificate.js';
import {temporaryDirectory} from '../base/temporary-directory.js';
import {FakeApiServer} from '../fakes/api-server/fake-api-server.js';
import {FakeClock} from '../fakes/fake-clock.js';
import {FakeProxy} from '../fakes/fake-proxy.js';

const {certificate, key} = createSelfSignedPair({
  commonName: 'api',
  names: ['localhost', '127.0.0.1'],
  notBeforeMs: 0,
  notAfterMs: 4e12,
});

/** Text that stands for a certificate. */
const pem = (content: string): string => `-----BEGIN CERTIFICATE-----\n${content}\n-----END CERTIFICATE-----`;

/** Returns the contents of the certificates that are found in these files. */
async function rootsOf(
  files: Readonly<Record<string, string>>,
  variables: Readonly<Record<string, string>> = {},
): Promise<readonly string[]> {
  const directory = await temporaryDirectory();
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(directory, path)), {recursive: true});
    await writeFile(join(directory, path), text);
  }
  const env = Object.fromEntries(
    Object.entries(variables).map(([name, value]) => [name, value.replaceAll('ROOT', directory)]),
  );
  return (await readSystemRoots(env, directory)).map((found) => found.split('\n')[1] ?? '');
}

test('the roots are those of the first bundle that exists and of the directories', async () => {
  const files = {
    '/etc/pki/tls/certs/ca-bundle.crt': `# Fedora\n${pem('A')}\n${pem('B')}\n`,
    '/etc/ssl/cert.pem': pem('C'),
    '/etc/ssl/certs/company.pem': pem('D'),
    '/etc/ssl/certs/again.pem': pem('A'),
    '/etc/ssl/certs/README': 'no certificate',
  };
  expect(await rootsOf(files)).toEqual(['A', 'B', 'D']);
});

test('variables name other files and directories', async () => {
  const files = {
    '/etc/ssl/certs/ca-certificates.crt': pem('A'),
    '/own/file': pem('B'),
    '/own/dir/a.pem': pem('C'),
    '/own/more/b.pem': pem('D'),
    '/own/extra': pem('E'),
  };
  const variables = {
    SSL_CERT_FILE: 'ROOT/own/file',
    SSL_CERT_DIR: 'ROOT/own/dir:ROOT/own/more:ROOT/own/missing',
    NODE_EXTRA_CA_CERTS: 'ROOT/own/extra',
  };
  expect(await rootsOf(files, variables)).toEqual(['B', 'C', 'D', 'E']);
});

test('a machine without certificate authorities trusts none', async () => {
  expect(await rootsOf({})).toEqual([]);
});

/** Resolves with a Node from a server with TLS, whose authority the kubeconfig does not name. */
async function getNode(roots: readonly string[], proxyOptions?: {tls: {cert: string; key: string}}) {
  await using api = await FakeApiServer.start({tls: {cert: certificate, key}});
  await using proxy = proxyOptions && (await FakeProxy.start({protocol: 'https', ...proxyOptions}));
  api.create('/api/v1/nodes/a', {kind: 'Node'});
  const credentials = {tls: {rejectUnauthorized: true}, token: undefined};
  const connection = new HttpConnection(
    new URL(api.url),
    {current: async () => credentials},
    {systemRoots: async () => roots, proxy: proxy?.url()},
  );
  try {
    const client = new ApiClient({connection, userAgent: 'kcri', clock: new FakeClock()});
    return await client.request({method: 'GET', path: '/api/v1/nodes/a'}, new AbortController().signal);
  } finally {
    connection.close();
  }
}

test('a server is trusted if the machine trusts its authority', async () => {
  expect(await getNode([pem('broken'), certificate])).toMatchObject({kind: 'Node'});
});

test('a server is rejected if the machine does not trust its authority', async () => {
  await expect(getNode([])).rejects.toThrow('failed to verify the certificate of "127.0.0.1"');
});

test('an https proxy is trusted if the machine trusts its authority', async () => {
  expect(await getNode([certificate], {tls: {cert: certificate, key}})).toMatchObject({kind: 'Node'});
});
