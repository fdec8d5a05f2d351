import {TLSSocket, type PeerCertificate} from 'node:tls';
import type {Socket} from 'node:net';
import {ANONYMOUS, type User} from './request-attributes.js';

/**
 * Returns the user of a connection from its client certificate (request/x509): the common name is the user name, the
 * organizations are the groups. Returns undefined, which means 401, for an invalid or expired certificate, and for a
 * connection without a certificate unless anonymous requests are allowed. Call it for each request: a connection can
 * outlive its certificate.
 */
export function authenticate(socket: Socket, anonymous: boolean, nowMs: number): User | undefined {
  if (!(socket instanceof TLSSocket)) return undefined;
  const certificate = socket.getPeerCertificate();
  const hasCertificate = Object.keys(certificate).length > 0;
  // A client with an invalid certificate does not fall back to anonymous.
  if (hasCertificate && !(socket.authorized && nowMs <= Date.parse(certificate.valid_to))) return undefined;
  return (hasCertificate ? userOf(certificate) : undefined) ?? (anonymous ? ANONYMOUS : undefined);
}

function userOf({subject}: PeerCertificate): User | undefined {
  const name = attributeValues(subject.CN).at(-1) ?? '';
  return name === '' ? undefined : {name, groups: [...attributeValues(subject.O), 'system:authenticated']};
}

/** Returns all values of an attribute of a distinguished name, which may occur several times. */
function attributeValues(attribute: string | readonly string[] | undefined): readonly string[] {
  return attribute === undefined ? [] : typeof attribute === 'string' ? [attribute] : attribute;
}
