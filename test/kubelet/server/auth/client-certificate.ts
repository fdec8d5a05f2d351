import {generateKeyPairSync, sign} from 'node:crypto';
import {
  bitString,
  boolean,
  context,
  integer,
  objectIdentifier,
  octetString,
  sequence,
  set,
  time,
  utf8String,
} from '../../../../src/format/x509/der.js';
import type {CertificatePair} from '../../../../src/format/x509/x509-parts.js';

const ATTRIBUTES = {O: '2.5.4.10', CN: '2.5.4.3', UID: '1.3.6.1.4.1.57683.2'} as const;
const KEYS = {
  ec: {
    create: () => generateKeyPairSync('ec', {namedCurve: 'P-256'}),
    algorithm: sequence(objectIdentifier('1.2.840.10045.4.3.2')),
  },
  rsa: {
    create: () => generateKeyPairSync('rsa', {modulusLength: 2048}),
    algorithm: sequence(objectIdentifier('1.2.840.113549.1.1.11'), Buffer.of(5, 0)),
  },
} as const;

/** An attribute of a certificate's subject. */
export type SubjectAttribute = readonly [type: keyof typeof ATTRIBUTES, value: string];

/** Creates a self-signed client certificate, which is its own authority. */
export function createClientCertificate(
  commonName: string,
  ...organizations: readonly string[]
): CertificatePair {
  return createCertificate([...organizations.map((name) => ['O', name] as const), ['CN', commonName]]);
}

/** Creates a self-signed certificate with this subject, for clients, which is its own authority. */
export function createCertificate(
  subject: readonly SubjectAttribute[],
  keyType: keyof typeof KEYS = 'ec',
): CertificatePair {
  const {create, algorithm} = KEYS[keyType];
  const {privateKey, publicKey} = create();
  const name = sequence(
    ...subject.map(([type, value]) => set(sequence(objectIdentifier(ATTRIBUTES[type]), utf8String(value)))),
  );
  const extension = (oid: string, value: Buffer) => sequence(objectIdentifier(oid), octetString(value));
  const tbs = sequence(
    context(0, integer(Buffer.of(2))),
    integer(Buffer.from(subject.at(-1)?.[1] ?? '')),
    algorithm,
    name,
    sequence(time(Date.UTC(2020, 0, 1)), time(Date.UTC(2120, 0, 1))),
    name,
    publicKey.export({type: 'spki', format: 'der'}),
    context(
      3,
      sequence(
        extension('2.5.29.19', sequence(boolean(true))),
        extension('2.5.29.37', sequence(objectIdentifier('1.3.6.1.5.5.7.3.2'))),
      ),
    ),
  );
  const certificate = sequence(tbs, algorithm, bitString(sign('sha256', tbs, privateKey)));
  return {
    certificate: `-----BEGIN CERTIFICATE-----\n${certificate.toString('base64')}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({type: 'pkcs8', format: 'pem'}).toString(),
  };
}
