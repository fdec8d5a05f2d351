import {createPrivateKey, createPublicKey, X509Certificate} from 'node:crypto';
import {anySignal} from '../../../base/async/any-signal.js';
import {createDeadline} from '../../../base/async/deadline.js';
import type {Clock, RandomSource} from '../../../base/clock.js';
import {messageOf} from '../../../base/errors.js';
import {
  ApiError,
  createCollection,
  isAlreadyExists,
  Reflector,
  type ApiClient,
} from '../../../kube-api/index.js';
import {createCertificateRequest} from '../../../format/x509/certificate-request.js';
import type {CertificatePair} from '../../../format/x509/x509-parts.js';
import {commonNameOf, NODES_ORGANIZATION, type CertificatePurpose} from './certificate-purpose.js';

/** Dependencies of {@link waitForCertificate}. */
export interface RequestCertificateOptions {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly random: RandomSource;
}

const PATH = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
/** Time in which a request must be approved and signed, in ms (certificateWaitTimeout); a new one follows then. */
const WAIT_MS = 15 * 60_000;

interface CertificateSigningRequest {
  readonly metadata: {readonly name?: string; readonly uid?: string; readonly resourceVersion?: string};
  readonly spec?: {readonly request?: string; readonly signerName?: string};
  readonly status?: {
    readonly certificate?: string;
    readonly conditions?: readonly {
      readonly type?: string;
      readonly reason?: string;
      readonly message?: string;
    }[];
  };
}

/** Key in PEM that is used in place of a new one, and the name of the request for it, which is found after a restart. */
export interface ReusedRequest {
  readonly name: string;
  readonly key: string;
}

/** A CertificateSigningRequest of the API server, and the private key that it is for. */
export interface SubmittedRequest {
  readonly name: string;
  readonly uid: string | undefined;
  readonly key: string;
}

/** Options of {@link submitRequest}. */
export interface SubmitRequestOptions extends Pick<RequestCertificateOptions, 'client' | 'clock'> {
  readonly reused?: ReusedRequest | undefined;
}

/**
 * Creates a CertificateSigningRequest, with a new key unless one is given; the request of a given key is reused if it exists
 * (csr.RequestCertificate). Rejects with the errors of requests, with Error if an existing request cannot be reused, and with
 * the signal's reason.
 */
export async function submitRequest(
  {signerName, usages, nodeName, names}: CertificatePurpose,
  {client, clock, reused}: SubmitRequestOptions,
  signal: AbortSignal,
): Promise<SubmittedRequest> {
  const subject = {commonName: commonNameOf(nodeName), organizations: [NODES_ORGANIZATION]};
  const {request, key} = createCertificateRequest(subject, {names, key: reused?.key});
  const body = {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: reused === undefined ? {generateName: 'csr-'} : {name: reused.name},
    spec: {request: Buffer.from(request).toString('base64'), signerName, usages},
    status: {},
  };
  try {
    const created = await client.request({method: 'POST', path: PATH, body}, signal);
    return submitted(created as CertificateSigningRequest, key);
  } catch (error) {
    if (reused === undefined || !isAlreadyExists(error)) throw error;
    const path = `${PATH}/${reused.name}`;
    const existing = (await client.request({method: 'GET', path}, signal)) as CertificateSigningRequest;
    requireCompatible(existing, {signerName, key, now: clock.now()});
    return submitted(existing, key);
  }
}

function submitted({metadata: {name = '', uid}}: CertificateSigningRequest, key: string): SubmittedRequest {
  return {name, uid, key};
}

/**
 * Throws unless a request is for this key, which only this node has, and this signer, and its certificate has not expired
 * (ensureCompatible).
 */
function requireCompatible(
  {metadata: {name = ''}, spec = {}, status: {certificate = ''} = {}}: CertificateSigningRequest,
  {signerName, key, now}: {readonly signerName: string; readonly key: string; readonly now: number},
): void {
  const [, base64 = ''] = /-----BEGIN[^-]*-----([^-]*)-----END/.exec(decodeBase64(spec.request)) ?? [];
  const publicKey = createPublicKey(key).export({type: 'spki', format: 'der'});
  if (spec.signerName !== signerName || !Buffer.from(base64, 'base64').includes(publicKey))
    throw new Error(`certificate signing request ${name} exists, but it is for another key or signer`);
  if (certificate === '') return;
  const {validTo} = parseCertificate(decodeBase64(certificate));
  if (Date.parse(validTo) <= now)
    throw new Error(`certificate signing request ${name} exists, but its certificate expired on ${validTo}`);
}

function decodeBase64(text = ''): string {
  return Buffer.from(text, 'base64').toString();
}

/**
 * Resolves with the certificate of a request when it is signed (csr.WaitForCertificate). Rejects if the request is denied,
 * deleted, fails, is not signed in time or has an unusable certificate, with the errors of requests, and with the signal's
 * reason.
 */
export async function waitForCertificate(
  {name, uid, key}: SubmittedRequest,
  {client, clock, random}: RequestCertificateOptions,
  signal: AbortSignal,
): Promise<CertificatePair> {
  const collection = createCollection<CertificateSigningRequest>({
    client,
    path: PATH,
    fieldSelector: `metadata.name=${name}`,
    decode: (value) => value as CertificateSigningRequest,
    random,
  });
  using deadline = createDeadline(
    clock,
    WAIT_MS,
    () => new Error(`certificate signing request ${name} was not signed within 15 minutes`),
  );
  const decided = new AbortController();
  using ending = anySignal(signal, deadline.signal, decided.signal);
  let failure: unknown;
  let certificate: string | undefined;
  let wasSeen = false;
  await new Reflector<CertificateSigningRequest>({
    collection,
    onChange: ([current]) => {
      try {
        // A list can be older than the request.
        if (current === undefined && wasSeen) throw new Error(`csr ${name} was deleted`);
        certificate = current && evaluateRequest(current, uid);
        wasSeen = current !== undefined;
      } catch (error) {
        failure = error;
      }
      if (certificate !== undefined || failure !== undefined) decided.abort();
    },
    onFailure: (error) => {
      // Other failures pass: the request stays, and the watch starts again.
      if (!(error instanceof ApiError) || (error.code !== 401 && error.code !== 403)) return;
      failure = error;
      decided.abort();
    },
    clock,
    random,
  })
    .run(ending.signal)
    .catch((error: unknown) => {
      if (!decided.signal.aborted) throw error;
    });
  if (certificate === undefined) throw failure;
  requireMatch(certificate, key);
  return {certificate, key};
}

/** Returns the certificate of a request, undefined while it is not signed. Throws if it is denied or has failed. */
function evaluateRequest(
  {metadata, status = {}}: CertificateSigningRequest,
  uid: string | undefined,
): string | undefined {
  const {name = ''} = metadata;
  if (metadata.uid !== uid) throw new Error(`csr ${name} changed UIDs`);
  const {certificate = '', conditions = []} = status;
  for (const {type, reason = '', message = ''} of conditions) {
    if (type === 'Denied')
      throw new Error(`certificate signing request is denied, reason: ${reason}, message: ${message}`);
    if (type === 'Failed')
      throw new Error(`certificate signing request failed, reason: ${reason}, message: ${message}`);
  }
  return certificate === '' ? undefined : decodeBase64(certificate);
}

function requireMatch(pem: string, key: string): void {
  if (!parseCertificate(pem).checkPrivateKey(createPrivateKey(key)))
    throw new Error('the API server sent a certificate for another key');
}

function parseCertificate(pem: string): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch (error) {
    throw new Error(`the API server sent an invalid certificate: ${messageOf(error)}`, {cause: error});
  }
}
