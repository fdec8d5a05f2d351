import {readFile, rm, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {createSelfSignedPair} from '../../../src/format/x509/self-signed-certificate.js';
import {freePorts} from '../../base/free-ports.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {until} from '../../base/until.js';
import {runKcri, type RunResult} from '../../cli/run-kcri.js';
import {signCertificateRequest} from '../../fakes/api-server/certificate-signer.js';
import {FakeApiServer} from '../../fakes/api-server/fake-api-server.js';
import {FakeRuntime} from '../../fakes/fake-runtime.js';
import {KUBEADM_CONFIG} from '../../kubelet/configuration/kubeadm-config.js';

const CSRS = '/apis/certificates.k8s.io/v1/certificatesigningrequests';

/** Files of a node as `kubeadm join` leaves them before it starts the kubelet; `healthzPort` in place of 10248. */
async function writeJoinFiles(
  directory: string,
  {
    cluster,
    endpoint,
    healthzPort,
  }: {readonly cluster: object; readonly endpoint: string; readonly healthzPort: number},
): Promise<void> {
  const bootstrap = {
    'current-context': 'tls-bootstrap-token-user@kubernetes',
    contexts: [{name: 'tls-bootstrap-token-user@kubernetes', context: {cluster: 'c', user: 'u'}}],
    clusters: [{name: 'c', cluster}],
    users: [{name: 'u', user: {token: 'abcdef.0123456789abcdef'}}],
  };
  const config = KUBEADM_CONFIG.replace('unix:///run/containerd/containerd.sock', endpoint)
    .replaceAll('/etc/kubernetes', directory)
    .replace('healthzPort: 10248', `healthzPort: ${healthzPort}`);
  await writeFile(join(directory, 'bootstrap-kubelet.conf'), JSON.stringify(bootstrap));
  // What the kubelet of a test cannot have: the node's ports, its swap setting and the priority of its process.
  await writeFile(
    join(directory, 'config.yaml'),
    `${config}enableServer: false\nfailSwapOn: false\noomScoreAdj: 0\n`,
  );
}

async function isHealthy(port: number): Promise<boolean> {
  return await fetch(`http://127.0.0.1:${port}/healthz`).then(
    async (response) => (await response.text()) === 'ok',
    () => false,
  );
}

async function answerRequest(api: FakeApiServer): Promise<void> {
  await until(() => api.storage.list(CSRS).length === 1);
  const [csr] = api.storage.list(CSRS);
  const {request} = csr!['spec'] as {readonly request: string};
  const certificate = Buffer.from(signCertificateRequest(Buffer.from(request, 'base64').toString()));
  api.storage.put(`${CSRS}/${csr!.metadata.name}`, {
    ...csr!,
    status: {certificate: certificate.toString('base64')},
  });
}

test("with kubeadm's files, the kubelet is healthy before it has a certificate, and starts again without the bootstrap file", async () => {
  const directory = await temporaryDirectory();
  const {certificate: cert, key} = createSelfSignedPair({
    ...{commonName: 'kubernetes', names: ['127.0.0.1'], notBeforeMs: 0, notAfterMs: 4e12},
  });
  await using api = await FakeApiServer.start({tls: {cert, key}});
  await using runtime = await FakeRuntime.start();
  const [healthzPort = 0] = await freePorts(1);
  const cluster = {server: api.url, 'certificate-authority-data': Buffer.from(cert).toString('base64')};
  await writeJoinFiles(directory, {cluster, endpoint: runtime.endpoint, healthzPort});
  const end = {first: new AbortController(), second: new AbortController()};
  // The arguments of 10-kubeadm.conf, and of kubeadm-flags.env.
  const start = async (signal: AbortSignal): Promise<RunResult> =>
    await runKcri(
      [
        `--bootstrap-kubeconfig=${directory}/bootstrap-kubelet.conf`,
        `--kubeconfig=${directory}/kubelet.conf`,
        `--config=${directory}/config.yaml`,
        '--hostname-override=w1',
        ...[`--root-dir=${directory}/kubelet`, `--cert-dir=${directory}/kubelet/pki`],
      ],
      {env: {KCRI_COMPAT: 'kubelet'}, signal},
    );
  const first = start(end.first.signal);
  await until(async () => await isHealthy(healthzPort));
  await answerRequest(api);
  await until(() => api.storage.get('/api/v1/nodes/w1') !== undefined);
  const pem = `${directory}/kubelet/pki/kubelet-client-current.pem`;
  expect(await readFile(join(directory, 'kubelet.conf'), 'utf8')).toContain(`client-certificate: ${pem}\n`);
  end.first.abort();
  expect((await first).exitCode).toBe(0);

  // What kubeadm does when the node has joined.
  await rm(join(directory, 'bootstrap-kubelet.conf'));
  api.storage.delete('/api/v1/nodes/w1');
  const second = start(end.second.signal);
  await until(() => api.storage.get('/api/v1/nodes/w1') !== undefined);
  expect(await isHealthy(healthzPort)).toBe(true);
  expect(api.storage.list(CSRS)).toHaveLength(1);
  end.second.abort();
  expect((await second).exitCode).toBe(0);
});
