import {generateKeyPairSync, sign} from 'node:crypto';
import {bitString, context, integer, objectIdentifier, sequence, set} from './der.js';
import {alternativeNames, nameOf, OID, pem, type DistinguishedName} from './x509-parts.js';

/** Certificate signing request (PKCS #10) and the new private key that it is for, both in PEM. */
export interface CertificateRequest {
  readonly request: string;
  readonly key: string;
}

/** Creates a P-256 key and a request for its certificate (RFC 2986). `names` are DNS names and IP addresses of a server. */
export function createCertificateRequest(
  subject: DistinguishedName,
  names: readonly string[] = [],
): CertificateRequest {
  const {privateKey, publicKey} = generateKeyPairSync('ec', {namedCurve: 'P-256'});
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
    key: privateKey.export({type: 'pkcs8', format: 'pem'}).toString(),
  };
}
