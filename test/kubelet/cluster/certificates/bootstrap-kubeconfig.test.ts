import {X509Certificate} from 'node:crypto';
import {lstat, readFile, rm, stat, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {SILENT_LOGGER} from '../../../../src/base/logger.js';
import {openCredentials, readClusterAccess} from '../../../../src/kube-api/index.js';
import {
  bootstrapKubeconfig,
  prepareKubeconfig,
} from '../../../../src/kubelet/cluster/certificates/bootstrap-kubeconfig.js';
import {
  answerRequest,
  createPair,
  created,
  CSRS,
  denied,
  embeddedUser,
  eventually,
  openRequest,
  runCertificates,
  signed,
  startCertificatesTestbed,
  textOf,
  type CertificatesTestbed,
} from './certificates-testbed.js';

const fileOf = ({directory}: CertificatesTestbed): string => join(directory, 'etc/kubelet.conf');

function startBootstrap(testbed: CertificatesTestbed, signal = testbed.signal): Promise<void> {
  const {connect, clock, bootstrap, store} = testbed;
  return bootstrapKubeconfig(
    {
      kubeconfig: fileOf(testbed),
      bootstrapKubeconfig: bootstrap,
      nodeName: 'node-1',
      ...{connect, clock, store},
      random: () => 0,
      logger: SILENT_LOGGER,
    },
    signal,
  );
}

async function prepare(testbed: CertificatesTestbed): Promise<boolean> {
  const {clock, bootstrap, store, signal} = testbed;
  const options = {kubeconfig: fileOf(testbed), bootstrapKubeconfig: bootstrap, store, clock};
  return await prepareKubeconfig({...options, logger: SILENT_LOGGER}, signal);
}

describe('TLS bootstrap without rotation', () => {
  test('requests a client certificate and writes a kubeconfig that refers to it', async () => {
    const testbed = await startCertificatesTestbed();
    const {api, store, clock, signal, directory} = testbed;
    const done = startBootstrap(testbed);
    await answerRequest(api, signed);
    await done;
    const [request] = created(api);
    expect(request?.headers['authorization']).toBe('Bearer bootstrap-token');
    expect(request?.body).toMatchObject({
      metadata: {name: expect.stringMatching(/^node-csr-[\w-]{43}$/) as unknown},
      spec: {
        signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
        usages: ['digital signature', 'client auth'],
      },
    });
    const file = fileOf(testbed);
    const current = store.currentPath;
    expect([(await stat(file)).mode & 0o777, (await stat(current)).mode & 0o777]).toEqual([0o600, 0o600]);
    expect((await lstat(current)).isSymbolicLink()).toBe(true);
    await expect(stat(join(directory, 'pki/kubelet-client.key.tmp'))).rejects.toThrow('ENOENT');
    // Administrators' scripts edit lines of the file.
    expect(await readFile(file, 'utf8')).toMatch(/^ {4}server: http/m);
    const access = await readClusterAccess(file, signal);
    expect(access).toMatchObject({tlsServerName: 'kubernetes', token: undefined});
    const {tls} = await (await openCredentials(access, {file, clock})).current();
    expect(new X509Certificate(tls.cert ?? '').subject).toBe('O=system:nodes\nCN=system:node:node-1');
    const before = api.requests.length;
    await startBootstrap(testbed);
    expect(api.requests).toHaveLength(before);
  });

  test('a restarted kubelet finds its request again', async () => {
    const testbed = await startCertificatesTestbed();
    const {api, signal} = testbed;
    const first = new AbortController();
    const stopped = startBootstrap(testbed, AbortSignal.any([signal, first.signal]));
    const {metadata} = await openRequest(api);
    first.abort();
    await expect(stopped).rejects.toThrow();
    const done = startBootstrap(testbed);
    await eventually(() => {
      expect(created(api)).toHaveLength(2);
    });
    await answerRequest(api, signed);
    await done;
    expect(api.storage.list(CSRS).map((csr) => csr.metadata.name)).toEqual([metadata.name]);
    // Without a kubeconfig, the key of the certificate is used again.
    await rm(fileOf(testbed));
    await startBootstrap(testbed);
    expect(api.storage.list(CSRS)).toHaveLength(1);
  });

  test.each([
    ['another key', {request: Buffer.from('-----BEGIN X-----\nAAAA\n-----END X-----').toString('base64')}],
    ['another signer', {signerName: 'example.com/other'}],
  ])('a request of the same name for %s is not used', async (_what, spec) => {
    const testbed = await startCertificatesTestbed();
    const {api, clock, signal} = testbed;
    const first = new AbortController();
    const stopped = startBootstrap(testbed, AbortSignal.any([signal, first.signal]));
    const csr = await openRequest(api);
    first.abort();
    await expect(stopped).rejects.toThrow();
    const status = signed(textOf(csr));
    api.storage.put(`${CSRS}/${csr.metadata.name}`, {
      ...csr,
      spec: {...(csr['spec'] as object), ...spec},
      status,
    });
    startBootstrap(testbed).catch(() => undefined);
    await eventually(() => {
      expect(clock.sleeps.at(-1)).toBe(2000);
    });
    await expect(stat(fileOf(testbed))).rejects.toThrow('ENOENT');
  });

  test('a denied request is tried again after a delay', async () => {
    const testbed = await startCertificatesTestbed();
    const {api, clock} = testbed;
    const done = startBootstrap(testbed);
    await answerRequest(api, denied);
    await eventually(() => {
      expect(clock.sleeps.at(-1)).toBe(2000);
    });
    for (const {metadata} of api.storage.list(CSRS)) api.storage.delete(`${CSRS}/${metadata.name}`);
    await clock.advance(2000);
    await answerRequest(api, signed);
    await done;
  });

  test('a certificate for another key is not stored', async () => {
    const testbed = await startCertificatesTestbed();
    const {api, clock, store} = testbed;
    startBootstrap(testbed).catch(() => undefined);
    await answerRequest(api, () => ({certificate: Buffer.from('garbage').toString('base64')}));
    await eventually(() => {
      expect(clock.sleeps.at(-1)).toBe(2000);
    });
    await expect(stat(store.currentPath)).rejects.toThrow('ENOENT');
  });
});

describe('TLS bootstrap with rotation', () => {
  test('writes the kubeconfig at once and requests the certificate with the bootstrap token', async () => {
    const testbed = await startCertificatesTestbed();
    const {api, connect, bootstrap} = testbed;
    expect(await prepare(testbed)).toBe(true);
    const server = await connect(fileOf(testbed), true);
    const {issued} = await runCertificates(testbed, {
      server,
      bootstrap: await connect(bootstrap),
      rotatesClient: true,
    });
    await openRequest(api);
    expect(await server.credentials.lacksCertificate()).toBe(true);
    await answerRequest(api, signed);
    await issued;
    expect(await server.credentials.lacksCertificate()).toBe(false);
    const [request, ...others] = created(api);
    expect(request?.headers['authorization']).toBe('Bearer bootstrap-token');
    expect(others).toEqual([]);
  });

  test('a valid certificate in the certificate directory is used without a request', async () => {
    const testbed = await startCertificatesTestbed();
    const {api, connect, store, clock, bootstrap} = testbed;
    await store.update(createPair(1), clock.now());
    expect(await prepare(testbed)).toBe(true);
    const server = await connect(fileOf(testbed), true);
    const {issued} = await runCertificates(testbed, {
      server,
      bootstrap: await connect(bootstrap),
      rotatesClient: true,
    });
    await issued;
    await clock.advance(1000);
    expect(api.requests).toEqual([]);
    expect(await prepare(testbed)).toBe(false);
  });

  test('an expired certificate is replaced with the bootstrap token', async () => {
    const testbed = await startCertificatesTestbed();
    const {store, clock, writeKubeconfig} = testbed;
    await store.update(createPair(-1), clock.now());
    const file = await writeKubeconfig('etc/kubelet.conf', embeddedUser(createPair(-1)));
    expect(await prepare(testbed)).toBe(true);
    const access = await readClusterAccess(file, testbed.signal);
    expect(access.clientCertificate).toMatchObject({kind: 'file', path: store.currentPath});
  });

  test('a missing bootstrap kubeconfig is an error that names the problem of the kubeconfig', async () => {
    const testbed = await startCertificatesTestbed();
    const {bootstrap, writeKubeconfig} = testbed;
    await rm(bootstrap);
    await expect(prepare(testbed)).rejects.toThrow(
      `kubeconfig "${fileOf(testbed)}" does not exist, and bootstrap kubeconfig "${bootstrap}" does not exist`,
    );
    const file = await writeKubeconfig('etc/kubelet.conf', embeddedUser(createPair(-1)));
    await expect(prepare(testbed)).rejects.toThrow(
      /client-certificate-data: the certificate expired on .*, and/,
    );
    expect(await readFile(file, 'utf8')).toContain('client-key-data');
  });

  test('an invalid bootstrap kubeconfig is an error, and nothing is written', async () => {
    const testbed = await startCertificatesTestbed();
    await writeFile(testbed.bootstrap, 'kind: Pod\n');
    await expect(prepare(testbed)).rejects.toThrow(`invalid kubeconfig "${testbed.bootstrap}"`);
    await expect(stat(fileOf(testbed))).rejects.toThrow('ENOENT');
  });
});
