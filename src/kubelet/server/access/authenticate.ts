import {TLSSocket, type PeerCertificate} from 'node:tls';
import type {Socket} from 'node:net';
import {ANONYMOUS, type User} from './attributes.js';

/**
 * Who is at the other end of a connection, by the client certificate that was shown (request/x509): its common name is
 * the user's, its organizations are groups. Undefined for nobody who is let in: a certificate that isn't good, or none
 * where anonymous requests are not allowed. A connection may outlive its certificate, which is why that is looked at
 * with each request.
 */
export function authenticate(socket: Socket, anonymous: boolean, nowMs: number): User | undefined {
  if (!(socket instanceof TLSSocket)) return undefined;
  const certificate = socket.getPeerCertificate();
  const isShown = Object.keys(certificate).length > 0;
  // Who shows a bad one wants to be somebody, and is not let in as nobody.
  if (isShown && !(socket.authorized && nowMs <= Date.parse(certificate.valid_to))) return undefined;
  return (isShown ? userOf(certificate) : undefined) ?? (anonymous ? ANONYMOUS : undefined);
}

function userOf({subject}: PeerCertificate): User | undefined {
  const name = all(subject.CN).at(-1) ?? '';
  return name === '' ? undefined : {name, groups: [...all(subject.O), 'system:authenticated']};
}

/** A part of a name may be there several times. */
function all(part: string | readonly string[] | undefined): readonly string[] {
  return part === undefined ? [] : typeof part === 'string' ? [part] : part;
}
