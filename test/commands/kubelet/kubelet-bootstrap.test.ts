import {mkdir, readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {createSelfSignedPair} from '../../../src/format/x509/self-signed-certificate.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {until} from '../../base/until.js';
import {runKcri} from '../../cli/run-kcri.js';
import {signCertificateRequest} from '../../fakes/api-server/certificate-signer.js';
import {FakeApiServer} from '../../fakes/api-server/fake-api-server.js';
import {anImage, FakeRuntime} from '../../fakes/fake-runtime.js';
import {WEB_MANIFEST} from './web-manifest.js';

const CSRS = '/apis/certificates.k8s.io/v1/certificatesigningrequests';

/** Writes a kubeconfig with a bootstrap token and a manifest, and returns the arguments of a kubelet that uses them. */
async function prepare(directory: string, cluster: object): Promise<readonly string[]> {
  const manifests = join(directory, 'manifests');
  await mkdir(manifests);
  await writeFile(join(manifests, 'web.yaml'), WEB_MANIFEST);
  const config = {
    'current-context': 'x',
    contexts: [{name: 'x', context: {cluster: 'c', user: 'u'}}],
    clusters: [{name: 'c', cluster}],
    users: [{name: 'u', user: {token: 'bootstrap-token'}}],
  };
  await writeFile(join(directory, 'bootstrap.conf'), JSON.stringify(config));
  return [
    'kubelet',
    ...[`--root-dir=${directory}/root`, `--pod-logs-dir=${directory}/logs`],
    `--container-logs-dir=${directory}/containers`,
    ...[`--kubeconfig=${directory}/kubelet.conf`, `--bootstrap-kubeconfig=${directory}/bootstrap.conf`],
    ...['--rotate-certificates', '--hostname-override=n1', `--pod-manifest-path=${manifests}`],
    ...['--oom-score-adj=0', '--enable-server=false', '--healthz-port=0', '--no-admission'],
  ];
}

test('static pods run while the certificate of the node is not issued; then the node is registered', async () => {
  const directory = await temporaryDirectory();
  const {certificate: cert, key} = createSelfSignedPair({
    ...{commonName: 'kubernetes', names: ['127.0.0.1'], notBeforeMs: 0, notAfterMs: 4e12},
  });
  await using api = await FakeApiServer.start({tls: {cert, key}});
  await using runtime = await FakeRuntime.start({images: [anImage({name: 'docker.io/library/busybox:1'})]});
  const end = new AbortController();
  const authority = Buffer.from(cert).toString('base64');
  const args = await prepare(directory, {server: api.url, 'certificate-authority-data': authority});
  const exited = runKcri(args, {endpoint: runtime.endpoint, signal: end.signal});
  await until(() => runtime.callsTo('StartContainer').length === 1);
  await until(() => api.storage.list(CSRS).length === 1);
  expect(await readFile(join(directory, 'kubelet.conf'), 'utf8')).toContain(
    'root/pki/kubelet-client-current.pem',
  );
  // Nothing is sent without credentials.
  expect(api.requests.filter(({path}) => path !== CSRS)).toEqual([]);
  const [csr] = api.storage.list(CSRS);
  const {request} = csr!['spec'] as {readonly request: string};
  const certificate = signCertificateRequest(Buffer.from(request, 'base64').toString());
  const status = {certificate: Buffer.from(certificate).toString('base64')};
  api.storage.put(`${CSRS}/${csr!.metadata.name}`, {...csr!, status});
  await until(() => api.storage.get('/api/v1/nodes/n1') !== undefined);
  end.abort();
  expect(await exited).toMatchObject({stdout: '', exitCode: 0});
});

test('an invalid bootstrap kubeconfig ends the kubelet at the start', async () => {
  const directory = await temporaryDirectory();
  await using runtime = await FakeRuntime.start();
  const args = await prepare(directory, {server: 'not a URL'});
  const {stderr, exitCode} = await runKcri(args, {endpoint: runtime.endpoint});
  expect(exitCode).toBe(1);
  expect(stderr).toContain(
    `invalid kubeconfig "${directory}/bootstrap.conf": clusters[c].server: Invalid value: "not a URL"`,
  );
});
