// Parts that certificates and certificate requests share (RFC 5280, RFC 2986).

import {isIP} from 'node:net';
import {boolean, context, objectIdentifier, octetString, sequence, set, utf8String} from './der.js';

/** Certificate and its private key, both in PEM. */
export interface CertificatePair {
  readonly certificate: string;
  readonly key: string;
}

/** Distinguished name of a user or server. */
export interface DistinguishedName {
  readonly commonName: string;
  readonly organizations: readonly string[];
}

export const OID = {
  commonName: '2.5.4.3',
  organization: '2.5.4.10',
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  extensionRequest: '1.2.840.113549.1.9.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  extendedKeyUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
} as const;

const SAN_DNS = 2;
const SAN_IP = 7;

/** Encodes a distinguished name: the organizations, then the common name. */
export function nameOf({commonName, organizations}: DistinguishedName): Buffer {
  const attribute = (oid: string, text: string): Buffer =>
    set(sequence(objectIdentifier(oid), utf8String(text)));
  return sequence(
    ...organizations.map((organization) => attribute(OID.organization, organization)),
    attribute(OID.commonName, commonName),
  );
}

/** Encodes the extension with the DNS names and IP addresses of a server. */
export function alternativeNames(names: readonly string[]): Buffer {
  return extension(OID.subjectAltName, sequence(...names.map(alternativeName)));
}

/** Encodes an extension of a certificate or request. */
export function extension(oid: string, value: Buffer, critical = false): Buffer {
  return sequence(objectIdentifier(oid), ...(critical ? [boolean(true)] : []), octetString(value));
}

function alternativeName(name: string): Buffer {
  return isIP(name) === 0
    ? context(SAN_DNS, Buffer.from(name, 'latin1'), false)
    : context(SAN_IP, addressBytes(name), false);
}

/** Returns the bytes of an IP address in network order. */
function addressBytes(address: string): Buffer {
  if (isIP(address) === 4) return Buffer.from(address.split('.').map(Number));
  // The URL parser normalizes IPv6 addresses to hexadecimal groups.
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const [left, right] = [head, tail ?? ''].map((part) => (part === '' ? [] : part.split(':')));
  const zeros = Array<string>(8 - (left?.length ?? 0) - (right?.length ?? 0)).fill('0');
  const groups = tail === undefined ? (left ?? []) : [...(left ?? []), ...zeros, ...(right ?? [])];
  return Buffer.from(groups.map((group) => group.padStart(4, '0')).join(''), 'hex');
}

/** Encodes DER as PEM. */
export function pem(label: string, der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}
