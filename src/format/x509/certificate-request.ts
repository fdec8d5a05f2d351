import {createPrivateKey, createPublicKey, generateKeyPairSync, sign} from 'node:crypto';
import {bitString, context, integer, objectIdentifier, sequence, set} from './der.js';
import {alternativeNames, nameOf, OID, pem, type DistinguishedName} from './x509-parts.js';

/** Certificate signing request (PKCS #10) and the private key that it is for, both in PEM. */
export interface CertificateRequest {
  readonly request: string;
  readonly key: string;
}

/** Options of {@link createCertificateRequest}. */
export interface CertificateRequestOptions {
  /** DNS names and IP addresses of a server; none by default. */
  readonly names?: readonly string[];
  /** Key on an elliptic curve, in PEM; a new one on P-256 by default. */
  readonly key?: string | undefined;
}

/** Creates a P-256 key in PEM. */
export function createKey(): string {
  const {privateKey} = generateKeyPairSync('ec', {namedCurve: 'P-256'});
  return privateKey.export({type: 'pkcs8', format: 'pem'}).toString();
}

/** Creates a request for a certificate (RFC 2986). */
export function createCertificateRequest(
  subject: DistinguishedName,
  {names = [], key = createKey()}: CertificateRequestOptions = {},
): CertificateRequest {
  const privateKey = createPrivateKey(key);
  const publicKey = createPublicKey(privateKey);
  const attribute = sequence(objectIdentifier(OID.extensionRequest), set(sequence(alternativeNames(names))));
  const info = sequence(
    integer(Buffer.of(0)),
    nameOf(subject),
    publicKey.export({type: 'spki', format: 'der'}),
    context(0, names.length === 0 ? Buffer.of() : attribute),
  );
  const algorithm = sequence(objectIdentifier(OID.ecdsaWithSha256));
  return {
    request: pem(
      'CERTIFICATE REQUEST',
      sequence(info, algorithm, bitString(sign('sha256', info, privateKey))),
    ),
    key,
  };
}
