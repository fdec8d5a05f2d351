import {createPrivateKey, X509Certificate} from 'node:crypto';
import {createDeadline} from '../../../base/async/deadline.js';
import type {Clock, RandomSource} from '../../../base/clock.js';
import {messageOf} from '../../../base/errors.js';
import {ApiError, createCollection, Reflector, type ApiClient} from '../../../kube-api/index.js';
import {createCertificateRequest} from '../../../format/x509/certificate-request.js';
import type {CertificatePair} from '../../../format/x509/x509-parts.js';

/** Purpose of a certificate: the signer, and the contents of the request. */
export interface CertificatePurpose {
  readonly signerName: 'kubernetes.io/kube-apiserver-client-kubelet' | 'kubernetes.io/kubelet-serving';
  readonly usages: readonly string[];
  readonly nodeName: string;
  /** DNS names and IP addresses of a server. */
  readonly names: readonly string[];
}

/** Returns the purpose of the node's client certificate. */
export function clientPurpose(nodeName: string): CertificatePurpose {
  return {
    signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
    usages: ['digital signature', 'client auth'],
    nodeName,
    names: [],
  };
}

/** Returns the purpose of the certificate of the kubelet's server. */
export function servingPurpose(nodeName: string, names: readonly string[]): CertificatePurpose {
  return {
    signerName: 'kubernetes.io/kubelet-serving',
    usages: ['digital signature', 'server auth'],
    nodeName,
    names,
  };
}

/** Dependencies of {@link requestCertificate}. */
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
  readonly status?: {
    readonly certificate?: string;
    readonly conditions?: readonly {
      readonly type?: string;
      readonly reason?: string;
      readonly message?: string;
    }[];
  };
}

/**
 * Creates a CertificateSigningRequest with a new key and resolves with its certificate when it is signed
 * (csr.RequestCertificate, WaitForCertificate). Rejects if it is denied, fails, is not signed in time or has an unusable
 * certificate, with the errors of requests, and with the signal's reason.
 */
export async function requestCertificate(
  {signerName, usages, nodeName, names}: CertificatePurpose,
  {client, clock, random}: RequestCertificateOptions,
  signal: AbortSignal,
): Promise<CertificatePair> {
  const subject = {commonName: `system:node:${nodeName}`, organizations: ['system:nodes']};
  const {request, key} = createCertificateRequest(subject, names);
  const created = (await client.request(
    {
      method: 'POST',
      path: PATH,
      body: {
        apiVersion: 'certificates.k8s.io/v1',
        kind: 'CertificateSigningRequest',
        metadata: {generateName: 'csr-'},
        spec: {request: Buffer.from(request).toString('base64'), signerName, usages},
        status: {},
      },
    },
    signal,
  )) as CertificateSigningRequest;
  const certificate = await waitForCertificate(created, {client, clock, random}, signal);
  requireMatch(certificate, key);
  return {certificate, key};
}

/** Resolves with the certificate of a request; rejects like {@link requestCertificate}. */
async function waitForCertificate(
  {metadata: {name = '', uid}}: CertificateSigningRequest,
  {client, clock, random}: RequestCertificateOptions,
  signal: AbortSignal,
): Promise<string> {
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
  let failure: unknown;
  let certificate: string | undefined;
  await new Reflector<CertificateSigningRequest>({
    collection,
    onChange: ([current]) => {
      try {
        certificate = current === undefined ? undefined : evaluateRequest(current, uid);
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
    .run(AbortSignal.any([signal, deadline.signal, decided.signal]))
    .catch((error: unknown) => {
      if (!decided.signal.aborted) throw error;
    });
  if (certificate === undefined) throw failure;
  return certificate;
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
  return certificate === '' ? undefined : Buffer.from(certificate, 'base64').toString();
}

function requireMatch(certificate: string, key: string): void {
  try {
    if (new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key))) return;
  } catch (error) {
    throw new Error(`the API server sent an invalid certificate: ${messageOf(error)}`, {cause: error});
  }
  throw new Error('the API server sent a certificate for another key');
}
