import {generateKeyPairSync, randomBytes, sign} from 'node:crypto';
import {bitString, boolean, context, integer, objectIdentifier, sequence, time} from './der.js';
import {alternativeNames, extension, nameOf, OID, pem, type CertificatePair} from './x509-parts.js';

/** Contents of a self-signed certificate. */
export interface SelfSignedOptions {
  readonly commonName: string;
  /** DNS names and IP addresses of the server. */
  readonly names: readonly string[];
  /** Validity, in ms since the epoch. */
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
}

/** Key usage digitalSignature and keyCertSign, which a self-signed certificate needs. */
const KEY_USAGE = 0b1000_0100;

/**
 * Creates a P-256 key and a self-signed server certificate (RFC 5280). Node.js has no API that creates certificates.
 */
export function createSelfSignedPair(options: SelfSignedOptions): CertificatePair {
  const {privateKey, publicKey} = generateKeyPairSync('ec', {namedCurve: 'P-256'});
  const algorithm = sequence(objectIdentifier(OID.ecdsaWithSha256));
  const tbs = tbsCertificate(options, algorithm, publicKey.export({type: 'spki', format: 'der'}));
  const signature = sign('sha256', tbs, privateKey);
  return {
    certificate: pem('CERTIFICATE', sequence(tbs, algorithm, bitString(signature))),
    key: privateKey.export({type: 'pkcs8', format: 'pem'}).toString(),
  };
}

function tbsCertificate(
  {commonName, names, notBeforeMs, notAfterMs}: SelfSignedOptions,
  algorithm: Buffer,
  publicKey: Buffer,
): Buffer {
  const name = nameOf({commonName, organizations: []});
  const extensions = sequence(
    extension(OID.keyUsage, bitString(Buffer.of(KEY_USAGE), 2), true),
    extension(OID.extendedKeyUsage, sequence(objectIdentifier(OID.serverAuth))),
    extension(OID.basicConstraints, sequence(boolean(true)), true),
    alternativeNames(names),
  );
  return sequence(
    context(0, integer(Buffer.of(2))),
    integer(randomBytes(16)),
    algorithm,
    name,
    sequence(time(notBeforeMs), time(notAfterMs)),
    name,
    publicKey,
    context(3, extensions),
  );
}
