import {writeFile} from 'node:fs/promises';
import {once} from 'node:events';
import {join} from 'node:path';
import {connect, getCiphers, type ConnectionOptions} from 'node:tls';
import {describe, expect, test} from 'vitest';
import type {CertificatePair} from '../../../../src/format/x509/x509-parts.js';
import {selectCiphers} from '../../../../src/kubelet/server/certificate/cipher-suites.js';
import type {LogFields} from '../../../../src/base/logger.js';
import {fakeLogger} from '../../../base/fake-logger.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';
import {createCertificate} from '../auth/client-certificate.js';
import {startServerTestbed} from '../server-testbed.js';

interface LogLine {
  readonly message: string;
  readonly fields: LogFields | undefined;
}

const certificates = {
  ECDSA: createCertificate([['CN', 'server']]),
  RSA: createCertificate([['CN', 'server']], 'rsa'),
};

/** Starts the servers with these suites and returns what a client negotiates. */
async function startWith(
  cipherSuites: readonly string[],
  {certificate, key}: CertificatePair,
  minVersion?: 'VersionTLS13',
): Promise<{
  readonly log: readonly LogLine[];
  readonly negotiate: (options: ConnectionOptions) => Promise<string>;
}> {
  const directory = await temporaryDirectory();
  const [certFile, keyFile] = [join(directory, 'tls.crt'), join(directory, 'tls.key')];
  await writeFile(certFile, certificate);
  await writeFile(keyFile, key);
  const log: LogLine[] = [];
  const {servers} = await startServerTestbed({
    options: {
      logger: fakeLogger({
        info: (message, fields) => log.push({message, fields}),
        error: (_error, message, fields) => log.push({message, fields}),
      }),
      certificate: {certDir: '', names: [], certFile, keyFile, cipherSuites, minVersion},
    },
  });
  return {log, negotiate: async (options) => await negotiate(servers.urls.main ?? '', options)};
}

async function negotiate(url: string, options: ConnectionOptions): Promise<string> {
  const {hostname, port} = new URL(url);
  const socket = connect({host: hostname, port: Number(port), rejectUnauthorized: false, ...options});
  try {
    await once(socket, 'secureConnect');
    return socket.getCipher().standardName;
  } finally {
    socket.destroy();
  }
}

const TLS_1_2 = {minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2', ciphers: 'ALL:@SECLEVEL=0'} as const;

describe('a handshake with TLS 1.2', () => {
  test.each([
    'TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256',
    'TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256',
    'TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384',
    'TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384',
    'TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256',
    'TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256',
    'TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA',
    'TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA',
    'TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA',
    'TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA',
    'TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256',
    'TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256',
    'TLS_RSA_WITH_AES_128_GCM_SHA256',
    'TLS_RSA_WITH_AES_256_GCM_SHA384',
    'TLS_RSA_WITH_AES_128_CBC_SHA256',
    'TLS_RSA_WITH_AES_128_CBC_SHA',
    'TLS_RSA_WITH_AES_256_CBC_SHA',
  ])('uses %s', async (suite) => {
    const {negotiate} = await startWith([suite], certificates[suite.includes('ECDSA') ? 'ECDSA' : 'RSA']);
    expect(await negotiate(TLS_1_2)).toBe(suite);
  });

  test('uses the suite that Go prefers, whatever the order', async () => {
    const suites = ['TLS_RSA_WITH_AES_256_CBC_SHA', 'TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256'];
    const {negotiate} = await startWith(suites, certificates.RSA);
    expect(await negotiate(TLS_1_2)).toBe('TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256');
  });

  test('fails without a common suite', async () => {
    const {negotiate} = await startWith(['TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256'], certificates.RSA);
    await expect(negotiate({...TLS_1_2, ciphers: 'AES256-SHA:@SECLEVEL=0'})).rejects.toThrow();
  });
});

describe('a start', () => {
  test('logs suites that are insecure or unavailable and offers the others, and always TLS 1.3', async () => {
    const suites = ['TLS_RSA_WITH_RC4_128_SHA', 'TLS_RSA_WITH_AES_256_GCM_SHA384', 'TLS_AES_128_GCM_SHA256'];
    const {log, negotiate} = await startWith(suites, certificates.RSA);
    expect(await negotiate(TLS_1_2)).toBe('TLS_RSA_WITH_AES_256_GCM_SHA384');
    expect(await negotiate({})).toMatch(/^TLS_(AES|CHACHA20)/);
    const insecure = 'Use of an insecure cipher suite';
    expect(log.filter(({message}) => message.includes('cipher'))).toMatchObject([
      {message: insecure, fields: {cipher: 'TLS_RSA_WITH_AES_256_GCM_SHA384'}},
      {message: insecure, fields: {cipher: 'TLS_RSA_WITH_RC4_128_SHA'}},
      {
        message: 'Ignoring a cipher suite that this program lacks',
        fields: {cipher: 'TLS_RSA_WITH_RC4_128_SHA'},
      },
    ]);
  });

  test('with suites that are all unavailable offers TLS 1.3', async () => {
    const {negotiate} = await startWith(['TLS_RSA_WITH_RC4_128_SHA'], certificates.RSA);
    await expect(negotiate(TLS_1_2)).rejects.toThrow();
    expect(await negotiate({})).toMatch(/^TLS_(AES|CHACHA20)/);
  });

  test('with TLS 1.3 as the lowest version logs that the suites have no effect', async () => {
    const suites = ['TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256'];
    const {log, negotiate} = await startWith(suites, certificates.RSA, 'VersionTLS13');
    await expect(negotiate(TLS_1_2)).rejects.toThrow();
    expect(await negotiate({})).toMatch(/^TLS_(AES|CHACHA20)/);
    expect(log.map(({message}) => message)).toContain(
      'Ignoring tlsCipherSuites: the cipher suites of TLS 1.3 are not configurable',
    );
  });

  test('with an unknown suite is refused', async () => {
    await expect(startWith(['TLS_MADE_UP'], certificates.RSA)).rejects.toThrow(
      'invalid tlsCipherSuites: unknown cipher suite "TLS_MADE_UP"',
    );
  });
});

test('each suite of Go has a name that OpenSSL knows, unless OpenSSL lacks its cipher', () => {
  const all = [
    ...['AES_128_GCM_SHA256', 'AES_256_GCM_SHA384', 'CHACHA20_POLY1305_SHA256', 'CHACHA20_POLY1305'].flatMap(
      (cipher) => [`TLS_ECDHE_ECDSA_WITH_${cipher}`, `TLS_ECDHE_RSA_WITH_${cipher}`],
    ),
    ...['3DES_EDE_CBC_SHA', 'RC4_128_SHA'].map((cipher) => `TLS_RSA_WITH_${cipher}`),
    ...['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256'],
    ...['TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA', 'TLS_ECDHE_RSA_WITH_RC4_128_SHA'],
    'TLS_ECDHE_ECDSA_WITH_RC4_128_SHA',
  ];
  const {unavailable} = selectCiphers(all, getCiphers());
  expect(unavailable.filter((suite) => !/3DES|RC4/.test(suite))).toEqual([]);
  const old = [
    'des-cbc3-sha',
    'ecdhe-rsa-des-cbc3-sha',
    'rc4-sha',
    'ecdhe-rsa-rc4-sha',
    'ecdhe-ecdsa-rc4-sha',
  ];
  expect(selectCiphers(all, [...getCiphers(), ...old]).unavailable).toEqual([]);
});
