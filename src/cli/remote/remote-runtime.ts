import {ConfigError} from '../../base/errors.js';
import {socketPath, withDialFailure, CriError} from '../../cri/index.js';
import {RemoteNode} from '../../remote/remote-node.js';
import type {SshOptions} from '../../remote/ssh-connection.js';
import {formatSshEndpoint, parseSshEndpoint, type SshEndpoint} from '../../remote/ssh-endpoint.js';

/** Options of RemoteRuntime. */
export interface RemoteRuntimeOptions extends SshOptions {
  /** Endpoint of the image service; undefined to use the runtime's. */
  readonly imageEndpoint: string | undefined;
  /** Endpoints to try on the node if the endpoint has no path. */
  readonly wellKnownEndpoints: readonly string[];
}

/** The runtime of a node that is reached through ssh. */
export class RemoteRuntime {
  readonly node: RemoteNode;
  /** Endpoint with the path of the socket. */
  readonly endpoint: string;
  /** Endpoint of the image service; undefined if it is the runtime's. */
  readonly imageEndpoint: string | undefined;
  /** Private sockets and the sockets on the node by endpoint. */
  readonly #sockets: ReadonlyMap<string, Sockets>;

  private constructor(node: RemoteNode, found: readonly Found[]) {
    const [runtime, images] = found;
    if (runtime === undefined) throw new RangeError('no endpoint');
    this.node = node;
    this.endpoint = runtime.endpoint;
    this.imageEndpoint = images?.endpoint;
    this.#sockets = new Map(found.map(({endpoint, ...sockets}) => [endpoint, sockets]));
  }

  /** Connects to a node. Rejects with ConfigError for an invalid endpoint, RemoteError, or the signal's reason. */
  static async open(endpoint: string, options: RemoteRuntimeOptions): Promise<RemoteRuntime> {
    const {imageEndpoint} = options;
    const runtime = parseSshEndpoint(endpoint);
    const images = imageEndpoint === undefined ? undefined : parseImageEndpoint(imageEndpoint, runtime);
    const node = await RemoteNode.open(runtime, options);
    try {
      const found = [await findSocket(node, runtime, options)];
      if (images !== undefined) found.push(await findSocket(node, images, options));
      return new RemoteRuntime(node, found);
    } catch (error) {
      await node.close();
      throw error;
    }
  }

  /** Returns the private socket of an endpoint. */
  readonly resolveSocket = (endpoint: string): string => {
    const sockets = this.#sockets.get(endpoint);
    if (sockets === undefined) throw new RangeError(`unknown endpoint ${endpoint}`);
    return sockets.local;
  };

  /** Returns the error to report for a failed call: why the connection was lost, or why it was refused on the node. */
  readonly explain = async (error: unknown): Promise<unknown> => {
    if (!(error instanceof CriError) || error.grpcCode !== 'UNAVAILABLE') return error;
    const sockets = this.#sockets.get(error.endpoint);
    const {lost} = this.node;
    if (sockets === undefined || lost.aborted) return lost.aborted ? lost.reason : error;
    try {
      const state = await this.node.checkSocket(sockets.remote);
      return state === undefined ? error : withDialFailure(error, sockets.remote, REASONS[state]);
    } catch (failure) {
      return failure;
    }
  };
}

/** Texts of connect(2) for the states of a socket. sshd connects to a socket with a listener unless it is forbidden. */
const REASONS = {
  missing: 'no such file or directory',
  'not-a-socket': 'connection refused',
  denied: 'permission denied',
  refused: 'connection refused',
  listening: 'sshd does not forward connections to it',
} as const;

interface Sockets {
  readonly local: string;
  readonly remote: string;
}

interface Found extends Sockets {
  readonly endpoint: string;
}

function parseImageEndpoint(imageEndpoint: string, runtime: SshEndpoint): SshEndpoint {
  const images = imageEndpoint.startsWith('ssh:') ? parseSshEndpoint(imageEndpoint) : undefined;
  if (images !== undefined && destination(images) === destination(runtime)) return images;
  throw new ConfigError(`the image endpoint "${imageEndpoint}" is not on the node of the runtime`, {
    hint: `omit --image-endpoint, or set it to ${destination(runtime)}/path/to/socket`,
  });
}

const destination = (endpoint: SshEndpoint): string =>
  formatSshEndpoint({...endpoint, socketPath: undefined});

async function findSocket(
  node: RemoteNode,
  endpoint: SshEndpoint,
  {wellKnownEndpoints}: RemoteRuntimeOptions,
): Promise<Found> {
  const remote = endpoint.socketPath ?? (await node.findSocket(wellKnownEndpoints.map(socketPath)));
  const local = await node.socketTo(remote);
  return {endpoint: formatSshEndpoint({...endpoint, socketPath: remote}), local, remote};
}
