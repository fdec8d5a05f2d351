import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {createInterface} from 'node:readline';
import {describe, expect, onTestFinished, test} from 'vitest';
import {createCertificateRequest} from '../../src/format/x509/certificate-request.js';
import {createSelfSignedPair} from '../../src/format/x509/self-signed-certificate.js';
import {HttpConnection} from '../../src/kube-api/http-connection.js';
import {openCredentials} from '../../src/kube-api/kubeconfig/credentials.js';
import {parseKubeconfig} from '../../src/kube-api/kubeconfig/parse-kubeconfig.js';
import {temporaryDirectory} from '../base/temporary-directory.js';
import {until} from '../base/until.js';
import {CLUSTER_CA, signCertificateRequest} from '../fakes/api-server/certificate-signer.js';
import {FakeClock} from '../fakes/fake-clock.js';

const NEVER = new AbortController().signal;
const GET = {method: 'GET', path: '/', timeoutMs: 10_000} as const;

/** Starts a TLS server that requires a valid client certificate and sends alerts, as OpenSSL does, and returns its port. */
async function startServer(directory: string, ...options: readonly string[]): Promise<number> {
  const {certificate, key} = createSelfSignedPair({
    ...{commonName: 'api', names: ['127.0.0.1'], notBeforeMs: 0, notAfterMs: 4e12},
  });
  await writeFile(join(directory, 'server.pem'), certificate + key);
  await writeFile(join(directory, 'ca.pem'), CLUSTER_CA.certificate);
  const server = spawn(
    'openssl',
    [
      ...['s_server', '-accept', '127.0.0.1:0', '-cert', 'server.pem', '-CAfile', 'ca.pem', '-www'],
      ...['-Verify', '1', '-verify_return_error', '-purpose', 'any', ...options],
    ],
    {cwd: directory, stdio: ['pipe', 'pipe', 'ignore']},
  );
  onTestFinished(async () => {
    server.kill();
    if (server.exitCode === null) await once(server, 'exit');
  });
  for await (const line of createInterface(server.stdout)) {
    const [, port] = /^ACCEPT .*:(\d+)$/.exec(line) ?? [];
    if (port !== undefined) return Number(port);
  }
  throw new Error('the server has ended');
}

/** Writes a client certificate that is valid for some days from now. */
async function writeCertificate(directory: string, days: number): Promise<void> {
  const {request, key} = createCertificateRequest({
    commonName: 'system:node:a',
    organizations: ['system:nodes'],
  });
  await writeFile(join(directory, 'client.pem'), signCertificateRequest(request, days) + key);
}

/** Opens a connection with the kubeconfig of a node whose clock is at `nowMs`. */
async function connect(directory: string, port: number, nowMs: number): Promise<HttpConnection> {
  const clock = new FakeClock({nowMs});
  const file = join(directory, 'kubeconfig');
  const text = `
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://127.0.0.1:${port}", certificate-authority: server.pem}}]
users: [{name: u, user: {client-certificate: client.pem, client-key: client.pem}}]
contexts: [{name: d, context: {cluster: c, user: u}}]
current-context: d
`;
  const access = parseKubeconfig(text, file);
  const credentials = await openCredentials(access, {file, clock});
  const connection = new HttpConnection(access.server, credentials, {clock});
  onTestFinished(() => {
    connection.close();
  });
  return connection;
}

describe.each(['-tls1_2', '-tls1_3'])('a server with %s that requires a client certificate', (version) => {
  test('rejects one that expired while the node ran, and accepts a renewed one at once', async () => {
    const directory = await temporaryDirectory();
    const port = await startServer(directory, version);
    await writeCertificate(directory, -1);
    // The certificate was valid when the node started.
    const connection = await connect(directory, port, 0);
    await expect(connection.send(GET, NEVER)).rejects.toThrow(
      'the API server rejected the client certificate: certificate expired',
    );
    await writeCertificate(directory, 1);
    await until(async () => {
      const response = await connection.send(GET, NEVER).catch(() => undefined);
      response?.destroy();
      return response?.status === 200;
    });
  });

  test('is not connected to with a certificate that is expired at the start', async () => {
    const directory = await temporaryDirectory();
    const port = await startServer(directory, version);
    await writeCertificate(directory, -1);
    await expect(connect(directory, port, Date.now())).rejects.toThrow(
      /users\[u\]\.client-certificate: the certificate expired on/,
    );
  });
});
