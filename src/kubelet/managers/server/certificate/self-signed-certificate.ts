import {generateKeyPairSync, randomBytes, sign} from 'node:crypto';
import {isIP} from 'node:net';
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
} from './der.js';

/** Certificate and its private key, both in PEM. */
export interface CertificatePair {
  readonly certificate: string;
  readonly key: string;
}

/** Contents of a self-signed certificate. */
export interface SelfSignedOptions {
  readonly commonName: string;
  /** DNS names and IP addresses of the server. */
  readonly names: readonly string[];
  /** Validity, in ms since the epoch. */
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
}

const OID = {
  commonName: '2.5.4.3',
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  extendedKeyUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
} as const;

/** Key usage digitalSignature and keyCertSign, which a self-signed certificate needs. */
const KEY_USAGE = 0b1000_0100;
const SAN_DNS = 2;
const SAN_IP = 7;

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
  const name = sequence(set(sequence(objectIdentifier(OID.commonName), utf8String(commonName))));
  const extensions = sequence(
    extension(OID.keyUsage, bitString(Buffer.of(KEY_USAGE), 2), true),
    extension(OID.extendedKeyUsage, sequence(objectIdentifier(OID.serverAuth))),
    extension(OID.basicConstraints, sequence(boolean(true)), true),
    extension(OID.subjectAltName, sequence(...names.map(alternativeName))),
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

function extension(oid: string, value: Buffer, critical = false): Buffer {
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

function pem(label: string, der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}
