import type {IncomingMessage} from 'node:http';
import {TLSSocket, type PeerCertificate} from 'node:tls';
import type {Socket} from 'node:net';
import type {Clock} from '../../../base/clock.js';
import type {AccessReviews, User} from '../../contract/access-reviews.js';
import {ANONYMOUS, UNAUTHENTICATED} from './request-attributes.js';

/** Group of all users that are not anonymous. */
const AUTHENTICATED = 'system:authenticated';
/** Attribute of a certificate's subject with the user's UID (apimachinery asn1.X509UID). */
const UID_ATTRIBUTE = '1.3.6.1.4.1.57683.2';

/** Returns the user of a request; undefined means 401. Rejects if the user cannot be determined. */
export type Authenticate = (request: IncomingMessage, socket: Socket) => Promise<User | undefined>;

/** Options of {@link createAuthenticator}. */
export interface AuthenticatorOptions {
  /** True if requests without credentials are from `system:anonymous`. */
  readonly anonymous: boolean;
  /** Reviews of bearer tokens; undefined to ignore tokens. */
  readonly reviews: Pick<AccessReviews, 'reviewToken'> | undefined;
  readonly clock: Pick<Clock, 'now'>;
}

/**
 * Returns a function that authenticates a request by its client certificate, then by its bearer token. A request with
 * credentials that are invalid never becomes anonymous (authenticatorfactory.DelegatingAuthenticatorConfig). Use it for
 * each request: a connection can outlive its certificate.
 */
export function createAuthenticator({anonymous, reviews, clock}: AuthenticatorOptions): Authenticate {
  return async (request, socket) => {
    if (!(socket instanceof TLSSocket)) return undefined;
    const certified = userOfCertificate(socket, clock.now());
    if (certified !== undefined && certified !== 'invalid') return addAuthenticatedGroup(certified);
    const token = reviews === undefined ? undefined : bearerToken(request);
    if (token !== undefined) {
      const user = await reviews?.reviewToken(token);
      return user && addAuthenticatedGroup(user);
    }
    return certified === undefined && anonymous ? ANONYMOUS : undefined;
  };
}

/** Adds the group of all users, unless the user is anonymous or has such a group (group.AuthenticatedGroupAdder). */
function addAuthenticatedGroup(user: User): User {
  const {name, groups} = user;
  const isComplete = groups.includes(AUTHENTICATED) || groups.includes(UNAUTHENTICATED);
  return isComplete || name === ANONYMOUS.name ? user : {...user, groups: [...groups, AUTHENTICATED]};
}

/**
 * Returns the user of a client certificate (request/x509): the common name is the user name, the organizations are the
 * groups. Returns undefined without a certificate that names a user.
 */
function userOfCertificate(socket: TLSSocket, nowMs: number): User | 'invalid' | undefined {
  const certificate = socket.getPeerCertificate();
  if (Object.keys(certificate).length === 0) return undefined;
  const isValid = socket.authorized && nowMs <= Date.parse(certificate.valid_to);
  return isValid ? subjectOf(certificate) : 'invalid';
}

function subjectOf({subject, fingerprint256}: PeerCertificate): User | 'invalid' | undefined {
  const name = attributeValues(subject.CN).at(-1) ?? '';
  if (name === '') return undefined;
  const uids = attributeValues(subject[UID_ATTRIBUTE]);
  const [uid] = uids;
  if (uids.length > 1 || uid === '') return 'invalid';
  const fingerprint = fingerprint256.replaceAll(':', '').toLowerCase();
  return {
    name,
    ...(uid !== undefined && {uid}),
    groups: attributeValues(subject.O),
    extra: {'authentication.kubernetes.io/credential-id': [`X509SHA256=${fingerprint}`]},
  };
}

/** Returns all values of an attribute of a distinguished name, which may occur several times. */
function attributeValues(attribute: string | readonly string[] | undefined): readonly string[] {
  return attribute === undefined ? [] : typeof attribute === 'string' ? [attribute] : attribute;
}

const WEBSOCKET_TOKEN = 'base64url.bearer.authorization.k8s.io.';

/** Returns the bearer token of a request; browsers send it as a WebSocket subprotocol (request/websocket). */
function bearerToken({headers}: IncomingMessage): string | undefined {
  const [, token] = /^bearer +([^ ]+)/i.exec(headers.authorization?.trim() ?? '') ?? [];
  if (token !== undefined) return token;
  const protocols = headers['sec-websocket-protocol']?.split(',').map((protocol) => protocol.trim()) ?? [];
  const encoded = protocols.find((protocol) => protocol.startsWith(WEBSOCKET_TOKEN));
  const decoded = encoded && Buffer.from(encoded.slice(WEBSOCKET_TOKEN.length), 'base64url').toString();
  return decoded === '' ? undefined : decoded;
}
