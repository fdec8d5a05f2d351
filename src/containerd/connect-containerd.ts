import {DEFAULT_TIMEOUT_MS} from '../cri/index.js';
import {defaultTransport} from '../cri/default-transport.js';
import {SchemaSet} from '../cri/message-schema.js';
import {createServiceClient, type ServiceWire} from '../cri/service-client.js';
import {ENUMS, MESSAGES} from './gen/schema.js';
import {
  CONTAINERS_METHODS,
  CONTENT_METHODS,
  DIFF_METHODS,
  IMAGES_METHODS,
  INTROSPECTION_METHODS,
  LEASES_METHODS,
  SNAPSHOTS_METHODS,
  TASKS_METHODS,
  type Containers,
  type Content,
  type Diff,
  type Images,
  type Introspection,
  type Leases,
  type Snapshots,
  type Tasks,
} from './gen/services.js';

/** Clients of containerd's own services, in one namespace. */
export interface ContainerdServices {
  readonly images: Images;
  readonly content: Content;
  readonly snapshots: Snapshots;
  readonly containers: Containers;
  readonly leases: Leases;
  readonly diff: Diff;
  readonly introspection: Introspection;
  readonly tasks: Tasks;
}

/** Connection to containerd. `close` closes the connection and cancels every call on it. */
export interface ContainerdConnection extends ContainerdServices, Disposable {
  readonly endpoint: string;
  /** Returns the services with a lease: what they create is not garbage collected while the lease exists. */
  withLease(id: string): ContainerdServices;
  close(): void;
}

/** Options of `connectContainerd`. */
export interface ContainerdOptions {
  /** Deadline of a unary call in milliseconds; default 120,000. Streams have none. */
  readonly timeoutMs?: number | undefined;
  /** containerd namespace, by default that of its CRI plugin: `k8s.io`. */
  readonly namespace?: string | undefined;
  /** Returns the socket to connect to, if the endpoint does not name it. */
  readonly resolveSocket?: ((endpoint: string) => string) | undefined;
  /** Returns the error to report for a failed call. */
  readonly explain?: ((error: unknown) => Promise<unknown>) | undefined;
}

const CONTAINERD_SCHEMAS = new SchemaSet({messages: MESSAGES, enums: ENUMS});

/**
 * Returns a connection to containerd's own services at `endpoint`, the socket on which containerd also serves the CRI.
 * The first call opens the socket. Any other runtime rejects calls with the code UNIMPLEMENTED (withContainerd).
 *
 * Throws ConfigError for an invalid endpoint. Calls reject with CriError, or with the signal's reason when aborted.
 */
export function connectContainerd(endpoint: string, options: ContainerdOptions = {}): ContainerdConnection {
  const transport = defaultTransport(endpoint, options.resolveSocket?.(endpoint));
  const namespace = {'containerd-namespace': options.namespace ?? 'k8s.io'};
  const shared = {
    transport,
    endpoint,
    schemas: CONTAINERD_SCHEMAS,
    timeoutMs: options.timeoutMs ?? DEFAULT_TIMEOUT_MS,
    observers: [],
    explain: options.explain,
  };
  const close = (): void => {
    transport.close();
  };
  return {
    ...createServices({...shared, metadata: namespace}),
    endpoint,
    withLease: (id) => createServices({...shared, metadata: {...namespace, 'containerd-lease': id}}),
    close,
    [Symbol.dispose]: close,
  };
}

function createServices(wire: ServiceWire): ContainerdServices {
  const name = (service: string, type: string): string => `containerd.services.${service}.v1.${type}`;
  return {
    images: createServiceClient<Images>(name('images', 'Images'), IMAGES_METHODS, wire),
    content: createServiceClient<Content>(name('content', 'Content'), CONTENT_METHODS, wire),
    snapshots: createServiceClient<Snapshots>(name('snapshots', 'Snapshots'), SNAPSHOTS_METHODS, wire),
    containers: createServiceClient<Containers>(name('containers', 'Containers'), CONTAINERS_METHODS, wire),
    leases: createServiceClient<Leases>(name('leases', 'Leases'), LEASES_METHODS, wire),
    diff: createServiceClient<Diff>(name('diff', 'Diff'), DIFF_METHODS, wire),
    introspection: createServiceClient<Introspection>(
      name('introspection', 'Introspection'),
      INTROSPECTION_METHODS,
      wire,
    ),
    tasks: createServiceClient<Tasks>(name('tasks', 'Tasks'), TASKS_METHODS, wire),
  };
}
