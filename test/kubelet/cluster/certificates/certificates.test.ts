import {X509Certificate} from 'node:crypto';
import {readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test, vi} from 'vitest';
import type {NodeAddress} from '../../../../src/api/types/v1-node.js';
import {requestAt, startServerTestbed} from '../../server/server-testbed.js';
import {RotatedCertificate} from '../../../../src/kubelet/cluster/certificates/rotated-certificate.js';
import {rotationDeadline} from '../../../../src/kubelet/cluster/certificates/certificate-manager.js';
import {servingNames} from '../../../../src/kubelet/cluster/certificates/certificate-purpose.js';
import {CertificateStore} from '../../../../src/kubelet/cluster/certificates/certificate-store.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';
import {CertificateMetrics} from '../../../../src/kubelet/managers/metrics/certificate-metrics.js';
import {formatExposition} from '../../../../src/kubelet/managers/metrics/exposition.js';
import {parseExposition} from '../../managers/metrics/parse-exposition.js';
import {CLUSTER_CA} from '../../../fakes/api-server/certificate-signer.js';
import type {Fault} from '../../../fakes/api-server/api-request.js';
import {
  advanceUntil,
  aNode,
  answerRequest,
  created,
  createPair,
  CSRS,
  DAY_MS,
  embeddedUser,
  eventually,
  openRequest,
  runCertificates,
  signed,
  startCertificatesTestbed,
  type CertificatesTestbed,
} from './certificates-testbed.js';

test('a certificate is replaced after 70 to 90 % of its lifetime', () => {
  const {certificate} = createPair(1);
  const {validFrom} = new X509Certificate(certificate);
  const shares = [0, 2 ** 31, 2 ** 32 - 1].map(
    (random) => (rotationDeadline(certificate, () => random) - Date.parse(validFrom)) / DAY_MS,
  );
  expect(shares.map((share) => share.toFixed(2))).toEqual(['0.70', '0.80', '0.90']);
});

function valueIn(metrics: CertificateMetrics, name: string): number | undefined {
  const samples = parseExposition(formatExposition(metrics.families()));
  return samples.find((sample) => sample.name === name)?.value;
}

describe('the serving certificate', () => {
  test('is requested, stored, announced, and replaced in time', async () => {
    const testbed = await startCertificatesTestbed();
    const {api, clock, directory, bootstrap, connect} = testbed;
    const metrics = new CertificateMetrics(clock);
    const valueOf = (name: string): number | undefined => valueIn(metrics, name);
    expect(valueOf('kubelet_certificate_manager_server_ttl_seconds')).toBeUndefined();
    const {serving} = await runCertificates(testbed, {
      server: await connect(bootstrap),
      node: () => aNode({type: 'InternalIP', address: '192.0.2.7'}),
      requestsServing: true,
      observe: metrics.observe,
    });
    const seen = vi.fn<Parameters<NonNullable<typeof serving>['subscribe']>[0]>();
    serving?.subscribe(seen);
    await answerRequest(api, signed);
    await eventually(() => {
      expect(seen).toHaveBeenCalledTimes(1);
    });
    expect(serving?.current?.certificate).toBe(seen.mock.calls[0]?.[0].certificate);
    const stored = await readFile(join(directory, 'pki/kubelet-server-current.pem'), 'utf8');
    expect(stored).toContain(serving?.current?.certificate.trim());
    await clock.advance(DAY_MS);
    await answerRequest(api, signed);
    await eventually(() => {
      expect(seen).toHaveBeenCalledTimes(2);
    });
    expect(valueOf('kubelet_certificate_manager_server_rotation_seconds_count')).toBe(1);
    const ttl = valueOf('kubelet_certificate_manager_server_ttl_seconds') ?? Infinity;
    expect(ttl).toBeLessThan(DAY_MS / 1000 + 1);
    expect(ttl).toBeGreaterThan(-DAY_MS / 1000);
    expect(valueOf('kubelet_server_expiration_renew_errors')).toBe(0);
  });

  test('is not requested before the node has an IP address, and has all its addresses', async () => {
    expect(servingNames(undefined)).toBeUndefined();
    expect(servingNames(aNode({type: 'Hostname', address: 'node-1'}))).toBeUndefined();
    const node = aNode(
      {type: 'InternalIP', address: '192.0.2.7'},
      {type: 'ExternalIP', address: '198.51.100.7'},
      {type: 'InternalIP', address: '192.0.2.7'},
      {type: 'ExternalIP', address: 'not-an-address'},
      {type: 'Hostname', address: 'node-1'},
      {type: 'InternalDNS', address: 'a.internal'},
    );
    expect(servingNames(node)).toEqual(['a.internal', 'node-1', '192.0.2.7', '198.51.100.7']);
  });

  test('is requested again when the addresses of the node change, also while a request is open', async () => {
    const testbed = await startCertificatesTestbed();
    const {api, clock, bootstrap, connect, directory} = testbed;
    const addresses: NodeAddress[] = [{type: 'InternalIP', address: '192.0.2.7'}];
    const options = {
      server: await connect(bootstrap),
      node: () => aNode(...addresses),
      requestsServing: true,
    };
    const {serving} = await runCertificates(testbed, options);
    const first = await openRequest(api);
    addresses.push({type: 'InternalIP', address: '192.0.2.8'});
    await advanceUntil(clock, 1000, () => created(api).length === 2);
    api.storage.delete(`${CSRS}/${first.metadata.name}`);
    await answerRequest(api, signed);
    await eventually(() => {
      expect(new X509Certificate(serving?.current?.certificate ?? '').checkIP('192.0.2.8')).toBeDefined();
    });
    addresses.shift();
    await clock.advance(1000);
    expect(created(api)).toHaveLength(2); // an address less needs no other certificate
    addresses.push({type: 'InternalIP', address: '192.0.2.9'});
    await advanceUntil(clock, 1000, () => created(api).length === 3);
    await answerRequest(api, signed);
    await eventually(async () => {
      const stored = await readFile(join(directory, 'pki/kubelet-server-current.pem'), 'utf8');
      expect(new X509Certificate(stored).checkIP('192.0.2.9')).toBeDefined();
    });
  });

  test('is requested at once after a restart with other addresses', async () => {
    const testbed = await startCertificatesTestbed();
    const {api, clock, bootstrap, connect, directory} = testbed;
    await new CertificateStore(join(directory, 'pki'), 'kubelet-server').update(createPair(1), clock.now());
    const node = aNode({type: 'InternalIP', address: '192.0.2.7'});
    await runCertificates(testbed, {
      server: await connect(bootstrap),
      node: () => node,
      requestsServing: true,
    });
    await openRequest(api);
  });

  test('is used by the server as soon as it is issued', async () => {
    const issued = new RotatedCertificate(undefined);
    const {servers} = await startServerTestbed({
      options: {certificate: {certDir: '/nonexistent', names: [], issued}},
    });
    const url = servers.urls.main ?? '';
    await expect(requestAt(url, '/healthz')).rejects.toThrow(/handshake/);
    issued.replace(CLUSTER_CA);
    expect(await requestAt(url, '/healthz')).toMatchObject({status: 200});
  });
});

describe('the client certificate', () => {
  test('is requested with a token, stored and used', async () => {
    const testbed = await startCertificatesTestbed();
    const {api, bootstrap, connect} = testbed;
    const server = await connect(bootstrap);
    await runCertificates(testbed, {server, rotatesClient: true});
    await answerRequest(api, signed);
    const certificate = await eventually(async () => {
      const {tls} = await server.credentials.current();
      if (tls.cert === undefined) throw new Error('the certificate is not in use');
      return tls.cert;
    });
    expect(new X509Certificate(certificate).subject).toBe('O=system:nodes\nCN=system:node:node-1');
  });

  test('is requested again after seconds when its request was deleted', async () => {
    const testbed = await startCertificatesTestbed();
    const {api, clock, bootstrap, connect} = testbed;
    const metrics = new CertificateMetrics(clock);
    const {observe} = metrics;
    await runCertificates(testbed, {server: await connect(bootstrap), rotatesClient: true, observe});
    const {metadata} = await openRequest(api);
    await eventually(() => {
      expect(api.requests.some(({method, path}) => method === 'GET' && path === CSRS)).toBe(true);
    });
    api.storage.delete(`${CSRS}/${metadata.name}`);
    await eventually(() => {
      expect(clock.sleeps.at(-1)).toBe(2000);
    });
    expect(valueIn(metrics, 'kubelet_certificate_manager_client_expiration_renew_errors')).toBe(1);
    await clock.advance(2000);
    expect((await openRequest(api)).metadata.name).not.toBe(metadata.name);
  });

  test.each([
    ['missing', undefined],
    ['expired', -1],
  ])('in the kubeconfig is stored and replaced at once if the stored one is %s', async (_what, days) => {
    const testbed = await startCertificatesTestbed();
    const {api, store, clock, connect, writeKubeconfig} = testbed;
    if (days !== undefined) await store.update(createPair(days), clock.now() - DAY_MS);
    const pair = createPair(1);
    const server = await connect(await writeKubeconfig('kubelet.conf', embeddedUser(pair)));
    const {issued} = await runCertificates(testbed, {server, rotatesClient: true});
    await issued;
    expect((await store.current())?.certificate).toBe(pair.certificate);
    expect((await server.credentials.current()).tls.cert).toContain(pair.certificate.trim());
    await openRequest(api);
  });

  test('in the store precedes that of the kubeconfig', async () => {
    const testbed = await startCertificatesTestbed();
    const {api, store, clock, connect, writeKubeconfig} = testbed;
    const pair = createPair(1);
    await store.update(pair, clock.now());
    const server = await connect(await writeKubeconfig('kubelet.conf', embeddedUser(createPair(1))));
    await runCertificates(testbed, {server, rotatesClient: true});
    await clock.advance(1000);
    expect((await server.credentials.current()).tls.cert).toContain(pair.certificate.trim());
    expect(created(api)).toEqual([]);
  });
});

/** Runs a node whose only client certificate has expired; the API server answers requests for another one with a fault. */
async function runExpired(
  testbed: CertificatesTestbed,
  fault: Fault,
  times?: number,
): Promise<{readonly ended: () => unknown}> {
  const {api, store, clock, connect, writeKubeconfig} = testbed;
  api.inject(({method, path}) => method === 'POST' && path === CSRS, fault, times);
  await store.update(createPair(-1), clock.now());
  const user = {'client-certificate': store.currentPath, 'client-key': store.currentPath};
  const server = await connect(await writeKubeconfig('kubelet.conf', user));
  const {failed} = await runCertificates(testbed, {server, rotatesClient: true});
  let error: unknown;
  failed.then(
    (reason) => (error = reason),
    () => undefined,
  );
  await eventually(() => {
    expect(created(api)).toHaveLength(1);
  });
  return {ended: () => error};
}

describe('an expired client certificate', () => {
  test('ends the kubelet after 5 minutes if the API server refuses to issue another one', async () => {
    const testbed = await startCertificatesTestbed();
    const {clock} = testbed;
    const startedAt = clock.now();
    const {ended} = await runExpired(testbed, {code: 403, reason: 'Forbidden'});
    await advanceUntil(clock, 1000, () => ended() !== undefined);
    expect(ended()).toMatchObject({
      message: expect.stringMatching(
        /^the node has had no valid client certificate for 5 minutes, .*: /,
      ) as unknown,
      hint: expect.stringMatching(/^pods keep running; .*--bootstrap-kubeconfig/) as unknown,
      exitCode: 1,
    });
    expect(clock.now() - startedAt).toBeGreaterThanOrEqual(300_000);
  });

  test('does not end the kubelet while the API server is broken', async () => {
    const testbed = await startCertificatesTestbed();
    const {clock} = testbed;
    const startedAt = clock.now();
    const {ended} = await runExpired(testbed, {code: 500});
    await advanceUntil(clock, 1000, () => clock.now() - startedAt > 700_000);
    expect(ended()).toBeUndefined();
  });

  test('does not end the kubelet if another one is issued', async () => {
    const testbed = await startCertificatesTestbed();
    const {api, clock} = testbed;
    const startedAt = clock.now();
    const {ended} = await runExpired(testbed, {code: 403, reason: 'Forbidden'}, 1);
    const expired = await testbed.store.current();
    await eventually(() => {
      expect(clock.sleeps).toContain(2000);
    });
    await clock.advance(2000);
    await answerRequest(api, signed);
    await eventually(async () => {
      expect(await testbed.store.current()).not.toEqual(expired);
    });
    await advanceUntil(clock, 1000, () => clock.now() - startedAt > 700_000);
    expect(ended()).toBeUndefined();
  });
});

test('an unusable stored certificate is an error that does not show the key', async () => {
  const directory = await temporaryDirectory();
  const store = new CertificateStore(directory, 'kubelet-client');
  await writeFile(
    store.currentPath,
    '-----BEGIN EC PRIVATE KEY-----\nsecret\n-----END EC PRIVATE KEY-----\n',
  );
  await expect(store.current()).rejects.toThrow(/^invalid certificate or private key in/);
  await expect(store.current()).rejects.not.toThrow(/secret/);
});
