import {X509Certificate} from 'node:crypto';
import {get} from 'node:https';
import type {IncomingMessage} from 'node:http';
import {hostname} from 'node:os';
import {createDeadline} from '../../../base/async/deadline.js';
import {anySignal} from '../../../base/async/any-signal.js';
import type {Clock} from '../../../base/clock.js';
import {SystemError} from '../../../base/errors.js';
import {isObject} from '../../../base/is-object.js';
import {lastFlagValue} from '../../../base/host/last-flag-value.js';
import {parseJsonObject} from '../../../base/parse-json-object.js';
import {systemErrorMessage} from '../../../base/system-error-message.js';
import {openKubeconfig} from '../../../kubelet/index.js';
import type {Fact} from '../fact.js';
import type {ApiServerFacts, KubeletProcess} from '../node-snapshot.js';
import type {FileReader} from './file-reader.js';

/** Kubeconfig that kubeadm writes. */
const KUBECONFIG = '/etc/kubernetes/kubelet.conf';
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
/** Time for the answer of the API server, in ms. */
const TIMEOUT_MS = 1500;
const MAX_BYTES = 256 * 1024;

/** Reads the lease of the node with the credentials of its kubelet. No credential program is run, and nothing is kept of them. */
export async function readApiServer(
  {argv}: KubeletProcess,
  node: FileReader,
  {clock, signal}: {readonly clock: Clock; readonly signal: AbortSignal},
): Promise<Fact<ApiServerFacts>> {
  const file = lastFlagValue(argv, 'kubeconfig') ?? KUBECONFIG;
  const present = await node.file(file);
  if ('error' in present) return present;
  return await node.onNode(async () => {
    using deadline = createDeadline(
      clock,
      TIMEOUT_MS,
      () => new SystemError(`the API server gave no answer within ${TIMEOUT_MS / 1000}s`),
    );
    using either = anySignal(signal, deadline.signal);
    return await askForLease(file, {argv, clock, signal: either.signal});
  }, file);
}

async function askForLease(
  file: string,
  {argv, clock, signal}: {readonly clock: Clock; readonly signal: AbortSignal} & Pick<KubeletProcess, 'argv'>,
): Promise<ApiServerFacts> {
  const {server, credentials} = await openKubeconfig(file, {clock, signal});
  const {tls, token} = credentials;
  const name = lastFlagValue(argv, 'hostname-override') ?? nodeOfCertificate(tls.cert) ?? hostname();
  const url = new URL(`${server.pathname.replace(/\/$/, '')}${LEASES}/${encodeURIComponent(name)}`, server);
  const headers = {
    accept: 'application/json',
    ...(token !== undefined && {authorization: `Bearer ${token}`}),
  };
  const start = clock.monotonic();
  const response = await request(url, {...tls, headers, agent: false, signal});
  const receivedAt = new Date(clock.now()).toISOString();
  const ms = Math.round(clock.monotonic() - start);
  const lease = leaseOf(await bodyOf(response));
  return {
    url: server.origin,
    status: response.statusCode ?? 0,
    date: response.headers.date === undefined ? '' : new Date(response.headers.date).toISOString(),
    receivedAt,
    ms,
    node: name,
    ...(lease !== undefined && {lease}),
  };
}

/** Resolves with the head of the response. Rejects with the reason of the signal, and with SystemError. */
async function request(
  url: URL,
  {signal, ...options}: Parameters<typeof get>[1] & {readonly signal: AbortSignal},
): Promise<IncomingMessage> {
  return await new Promise((resolve, reject) => {
    get(url, {...options, signal}, resolve).once('error', (error) => {
      const cause = new SystemError(`${url.origin}: ${systemErrorMessage(error)}`, {cause: error});
      reject(signal.aborted ? (signal.reason as Error) : cause);
    });
  });
}

/** Reads a response, which is a small object. */
async function bodyOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BYTES)
      throw new SystemError(`the answer of the API server is larger than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** Returns the name of the node in its client certificate. */
function nodeOfCertificate(cert: string | undefined): string | undefined {
  if (cert === undefined) return undefined;
  return /^CN=system:node:(.+)$/m.exec(new X509Certificate(cert).subject)?.[1];
}

/** Returns the lease in the answer of the API server; undefined if it is not one. Pure. */
export function leaseOf(body: string): ApiServerFacts['lease'] {
  const {spec} = parseJsonObject(body);
  if (!isObject(spec)) return undefined;
  const {renewTime, leaseDurationSeconds} = spec;
  if (typeof renewTime !== 'string' || !Number.isFinite(Date.parse(renewTime))) return undefined;
  return {
    renewedAt: new Date(renewTime).toISOString(),
    durationSeconds: typeof leaseDurationSeconds === 'number' ? leaseDurationSeconds : 0,
  };
}
