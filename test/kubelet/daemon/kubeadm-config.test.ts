import {mkdir, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {createSelfSignedPair} from '../../../src/format/x509/self-signed-certificate.js';
import {freePorts} from '../../base/free-ports.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {until} from '../../base/until.js';
import {runKcri} from '../../cli/run-kcri.js';
import {FakeApiServer} from '../../fakes/api-server/fake-api-server.js';
import {AutoAdvance, FakeClock, TEST_TIME_MS} from '../../fakes/fake-clock.js';
import {FakeRuntime} from '../../fakes/fake-runtime.js';
import {KUBEADM_CONFIG} from '../configuration/kubeadm-config.js';

const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';

test("a node with kubeadm's configuration is healthy, renews its lease, rests and ends", async () => {
  const directory = await temporaryDirectory();
  const pair = createSelfSignedPair({
    ...{commonName: 'kubernetes', names: ['127.0.0.1'], notBeforeMs: 0, notAfterMs: 4e12},
  });
  await using api = await FakeApiServer.start({tls: {cert: pair.certificate, key: pair.key}});
  await using runtime = await FakeRuntime.start();
  const [port, healthzPort] = await freePorts(2);
  await mkdir(join(directory, 'pki'));
  await mkdir(join(directory, 'manifests'));
  await writeFile(join(directory, 'pki/ca.crt'), pair.certificate);
  const config = KUBEADM_CONFIG.replaceAll('/etc/kubernetes', directory)
    .replace('unix:///run/containerd/containerd.sock', runtime.endpoint)
    .replace('10248', String(healthzPort));
  await writeFile(join(directory, 'config.yaml'), config);
  await writeFile(
    join(directory, 'kubelet.conf'),
    JSON.stringify({
      'current-context': 'x',
      contexts: [{name: 'x', context: {cluster: 'c', user: 'u'}}],
      clusters: [
        {
          name: 'c',
          cluster: {
            server: api.url,
            'certificate-authority-data': Buffer.from(pair.certificate).toString('base64'),
          },
        },
      ],
      users: [{name: 'u', user: {token: 'secret'}}],
    }),
  );
  const clock = new FakeClock({nowMs: TEST_TIME_MS});
  const end = new AbortController();
  const exited = runKcri(
    [
      ...['kubelet', `--config=${directory}/config.yaml`, `--kubeconfig=${directory}/kubelet.conf`],
      ...[
        `--root-dir=${directory}/root`,
        `--cert-dir=${directory}/root/pki`,
        `--pod-logs-dir=${directory}/logs`,
        `--container-logs-dir=${directory}/containers`,
      ],
      ...[`--port=${port}`, '--hostname-override=n1', '--oom-score-adj=0', '--fail-swap-on=false'],
    ],
    {clock, signal: end.signal},
  );
  const renewals = (): number =>
    api.requests.filter(({method, path}) => method === 'PUT' && path.startsWith(LEASES)).length;
  // Time passes only while the process is idle, so that it would stop for a loop without a pause.
  using _ = new AutoAdvance(clock);

  await until(() => api.storage.get('/api/v1/nodes/n1') !== undefined);
  expect(await (await fetch(`http://127.0.0.1:${healthzPort}/healthz`)).text()).toBe('ok');
  await until(() => renewals() > 2);
  end.abort();
  expect(await exited).toMatchObject({exitCode: 0});
});
