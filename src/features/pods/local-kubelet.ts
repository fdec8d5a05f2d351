import {readFile} from 'node:fs/promises';
import {Agent as HttpAgent, get as getHttp, type IncomingMessage, type RequestOptions} from 'node:http';
import {Agent as HttpsAgent, get as getHttps} from 'node:https';
import {onAbort} from '../../base/async/abort-callbacks.js';
import type {Pod} from '../../api/types/v1-pod.js';
import {anySignal} from '../../base/async/any-signal.js';
import {createDeadline} from '../../base/async/deadline.js';
import type {Clock} from '../../base/clock.js';
import {KUBELET_ROOT_DIR} from '../../base/host/kubelet-root-dir.js';
import {isSystemCallError} from '../../base/errors.js';
import {isObject} from '../../base/is-object.js';
import type {LocalKubelet} from '../../cli/process/context.js';

/** Ports of a kubelet, and the files of kubeadm and of the kubelet's own rotation. */
export const LOCAL_KUBELET: LocalKubelet = {
  readOnlyPort: 10_255,
  port: 10_250,
  rootDir: KUBELET_ROOT_DIR,
  credentials: [
    {
      cert: '/etc/kubernetes/pki/apiserver-kubelet-client.crt',
      key: '/etc/kubernetes/pki/apiserver-kubelet-client.key',
    },
    {cert: '/etc/kubernetes/admin.conf', key: '/etc/kubernetes/admin.conf'},
    {
      cert: '/var/lib/kubelet/pki/kubelet-client-current.pem',
      key: '/var/lib/kubelet/pki/kubelet-client-current.pem',
    },
  ],
};

/** The only address that is queried, so that no credentials leave the machine. */
const LOOPBACK = '127.0.0.1';
/** Time limit of all attempts, in ms. */
const TIMEOUT_MS = 1500;
/** Maximum size of a response; 250 Pods have some megabytes. */
const MAX_BYTES = 32 * 1024 * 1024;

/** Context of a query. */
export interface LocalKubeletQuery {
  readonly kubelet: LocalKubelet;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/**
 * Returns the pods of a kubelet on this machine with their statuses; undefined if none answers in time. Rejects with the
 * signal's reason.
 */
export async function readLocalKubeletPods(query: LocalKubeletQuery): Promise<readonly Pod[] | undefined> {
  using client = new LocalKubeletClient(query);
  return await client.pods();
}

/**
 * Asks a kubelet on this machine about its pods, over one connection and with the access that it granted last. Certificates of
 * the server are not verified: a client certificate reveals nothing, and the answer is only shown.
 */
export class LocalKubeletClient implements Disposable {
  readonly #query: LocalKubeletQuery;
  readonly #forgetSignal: () => void;
  readonly #agents = {http: new HttpAgent({keepAlive: true}), https: new HttpsAgent({keepAlive: true})};
  /** Access that was granted last. */
  #granted: Attempt | undefined;
  #body: Buffer | undefined;
  #pods: readonly Pod[] | undefined;

  constructor(query: LocalKubeletQuery) {
    this.#query = query;
    this.#forgetSignal = onAbort(query.signal, this.#close);
  }

  /**
   * Returns the pods with their statuses, the same ones if the answer is the same; undefined if no kubelet answers in time. Rejects
   * with the signal's reason.
   */
  async pods(): Promise<readonly Pod[] | undefined> {
    const {kubelet, clock, signal} = this.#query;
    using limit = createDeadline(clock, TIMEOUT_MS);
    using either = anySignal(signal, limit.signal);
    for await (const attempt of this.#attempts(kubelet)) {
      const body = await get(attempt, this.#agents, either.signal);
      signal.throwIfAborted();
      const pods = body && this.#parse(body);
      if (pods !== undefined) {
        this.#granted = attempt;
        return pods;
      }
      if (limit.signal.aborted) break;
    }
    this.#granted = undefined;
    return undefined;
  }

  [Symbol.dispose](): void {
    this.#forgetSignal();
    this.#close();
  }

  readonly #close = (): void => {
    this.#agents.http.destroy();
    this.#agents.https.destroy();
  };

  async *#attempts(kubelet: LocalKubelet): AsyncGenerator<Attempt> {
    if (this.#granted !== undefined) yield this.#granted;
    yield* attempts(kubelet);
  }

  #parse(body: Buffer): readonly Pod[] | undefined {
    if (this.#body?.equals(body) !== true) {
      this.#pods = parsePods(body.toString());
      this.#body = body;
    }
    return this.#pods;
  }
}

interface Attempt {
  readonly port: number;
  /** Client certificate and key in PEM; undefined for plain HTTP. */
  readonly pair: {readonly cert: string; readonly key: string} | undefined;
}

async function* attempts({readOnlyPort, port, credentials}: LocalKubelet): AsyncGenerator<Attempt> {
  yield {port: readOnlyPort, pair: undefined};
  for (const {cert, key} of credentials) {
    const pair = {
      cert: await readPem(cert, 'client-certificate-data'),
      key: await readPem(key, 'client-key-data'),
    };
    if (pair.cert !== '' && pair.key !== '') yield {port, pair};
  }
}

/** Returns PEM text: the file itself, or the data of a field if it is a kubeconfig; empty if it cannot be read. */
async function readPem(path: string, field: string): Promise<string> {
  try {
    const text = await readFile(path, 'utf8');
    const [, data] = new RegExp(`^\\s*${field}:\\s*(\\S+)\\s*$`, 'm').exec(text) ?? [];
    return data === undefined ? text : Buffer.from(data, 'base64').toString();
  } catch (error) {
    if (!isSystemCallError(error)) throw error;
    return '';
  }
}

/** Returns the body of /pods; undefined for any failure. */
async function get(
  {port, pair}: Attempt,
  {http, https}: {readonly http: HttpAgent; readonly https: HttpsAgent},
  signal: AbortSignal,
): Promise<Buffer | undefined> {
  const options: RequestOptions = {host: LOOPBACK, port, path: '/pods', signal};
  try {
    return await new Promise<Buffer | undefined>((resolve, reject) => {
      const take = (response: IncomingMessage): void => {
        readBody(response).then(resolve, reject);
      };
      const request =
        pair === undefined
          ? getHttp({...options, agent: http}, take)
          : getHttps({...options, ...pair, agent: https, rejectUnauthorized: false}, take);
      request.once('error', reject);
    });
  } catch {
    // Any failure, such as an invalid certificate, means that this way of access does not work.
    return undefined;
  }
}

async function readBody(response: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BYTES) {
      response.destroy();
      return undefined;
    }
    chunks.push(chunk);
  }
  return response.statusCode === 200 ? Buffer.concat(chunks) : undefined;
}

function parsePods(body: string): readonly Pod[] | undefined {
  try {
    const list = JSON.parse(body) as unknown;
    return isObject(list) && Array.isArray(list['items']) ? list['items'].filter(isPod) : undefined;
  } catch {
    return undefined;
  }
}

/** Reports whether a value has the parts of a Pod that commands read. */
export function isPod(value: unknown): value is Pod {
  if (!isObject(value)) return false;
  const {metadata, spec, status = {}} = value;
  if (!isObject(metadata) || !isObject(spec) || !isObject(status)) return false;
  const {initContainerStatuses, containerStatuses, conditions, podIPs} = status;
  return (
    ['uid', 'name', 'namespace'].every((field) => typeof metadata[field] === 'string') &&
    isNamedList(spec['containers']) &&
    [spec['initContainers'], initContainerStatuses, containerStatuses].every(
      (items) => items === undefined || isNamedList(items),
    ) &&
    [conditions, podIPs, spec['volumes'], spec['tolerations']].every(
      (items) => items === undefined || (Array.isArray(items) && items.every(isObject)),
    )
  );
}

function isNamedList(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => isObject(item) && typeof item['name'] === 'string');
}
