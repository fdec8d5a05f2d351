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
} from '../../../../../src/format/x509/der.js';
import type {CertificatePair} from '../../../../../src/format/x509/x509-parts.js';

/** Creates a self-signed client certificate, which is its own authority. */
export function createClientCertificate(
  commonName: string,
  ...organizations: readonly string[]
): CertificatePair {
  const {privateKey, publicKey} = generateKeyPairSync('ec', {namedCurve: 'P-256'});
  const algorithm = sequence(objectIdentifier('1.2.840.10045.4.3.2'));
  const attribute = (oid: string, text: string) => set(sequence(objectIdentifier(oid), utf8String(text)));
  const name = sequence(
    ...organizations.map((organization) => attribute('2.5.4.10', organization)),
    attribute('2.5.4.3', commonName),
  );
  const extension = (oid: string, value: Buffer) => sequence(objectIdentifier(oid), octetString(value));
  const tbs = sequence(
    context(0, integer(Buffer.of(2))),
    integer(Buffer.from(commonName)),
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
