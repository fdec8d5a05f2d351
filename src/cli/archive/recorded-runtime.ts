import {ConfigError} from '../../base/errors.js';
import {isObject} from '../../base/is-object.js';
import {decode, encode} from '../../cri/codec.js';
import {fromJson} from '../../cri/index.js';
import type {MessageName} from '../../cri/gen/schema.js';
import type {MessageTypes} from '../../cri/gen/types.js';
import {rpcFailure, type Transport} from '../../cri/transport.js';
import type {SavedNode} from './saved-node.js';

/** Calls without an argument whose responses are saved; filters are applied when they are answered. */
export const RECORDED_CALLS = [
  'Version',
  'Status',
  'ListPodSandbox',
  'ListContainers',
  'ListImages',
] as const;

export type RecordedCall = (typeof RECORDED_CALLS)[number];

/** Responses of a runtime as proto JSON, in an archive. */
export interface RuntimeRecording {
  readonly answers: Readonly<Partial<Record<RecordedCall, unknown>>>;
  /** Responses of PodSandboxStatus and ContainerStatus. */
  readonly sandboxes: readonly unknown[];
  readonly containers: readonly unknown[];
  /** Reasons why calls have no response, by method. */
  readonly failures: Readonly<Partial<Record<RecordedCall, string>>>;
}

/** Name of the part of an archive with the recording. */
export const RUNTIME_PART = 'runtime';

/** Returns a transport on which a saved node answers the calls that were recorded, and refuses all others. */
export function recordedTransport(endpoint: string, node: SavedNode): Transport {
  let runtime: RecordedRuntime | undefined;
  const refused = (path: string): Error =>
    rpcFailure(endpoint, path, {grpcCode: 'UNIMPLEMENTED', details: `${node.path} is a saved node`});
  return {
    unary: async (path, request, createSink, {signal}) => {
      signal?.throwIfAborted();
      await Promise.resolve();
      runtime ??= new RecordedRuntime(node);
      const answer = ANSWERS[path.slice(path.lastIndexOf('/') + 1)];
      if (answer === undefined) throw refused(path);
      const response = answer(runtime, request);
      if (response === undefined)
        throw rpcFailure(endpoint, path, {grpcCode: 'NOT_FOUND', details: `it is not in ${node.path}`});
      const sink = createSink();
      sink.push(response);
      return sink;
    },
    stream: (path) => ({
      [Symbol.asyncIterator]: () => ({
        next: async () => await Promise.reject(refused(path)),
      }),
    }),
    close: () => undefined,
  };
}

/** Returns the response to a request; undefined for an object that was not saved. Throws ConfigError. */
type Answer = (runtime: RecordedRuntime, request: Buffer) => Buffer | undefined;

const ANSWERS: Readonly<Record<string, Answer>> = {
  Version: (runtime) => encode('VersionResponse', runtime.response('Version', 'VersionResponse')),
  Status: (runtime) => encode('StatusResponse', runtime.response('Status', 'StatusResponse')),
  ListImages: (runtime) => encode('ListImagesResponse', runtime.response('ListImages', 'ListImagesResponse')),
  ListPodSandbox: (runtime, request) => {
    const {filter} = decode('ListPodSandboxRequest', request);
    const {items} = runtime.response('ListPodSandbox', 'ListPodSandboxResponse');
    return encode('ListPodSandboxResponse', {
      items: items.filter(
        ({id, state, labels}) =>
          id.startsWith(filter?.id ?? '') &&
          (filter?.state === undefined || state === filter.state.state) &&
          hasLabels(labels, filter?.labelSelector),
      ),
    });
  },
  ListContainers: (runtime, request) => {
    const {filter} = decode('ListContainersRequest', request);
    const {containers} = runtime.response('ListContainers', 'ListContainersResponse');
    return encode('ListContainersResponse', {
      containers: containers.filter(
        ({id, state, labels, podSandboxId}) =>
          id.startsWith(filter?.id ?? '') &&
          podSandboxId.startsWith(filter?.podSandboxId ?? '') &&
          (filter?.state === undefined || state === filter.state.state) &&
          hasLabels(labels, filter?.labelSelector),
      ),
    });
  },
  PodSandboxStatus: (runtime, request) => {
    const found = runtime.sandbox(decode('PodSandboxStatusRequest', request).podSandboxId);
    return found && encode('PodSandboxStatusResponse', found);
  },
  ContainerStatus: (runtime, request) => {
    const found = runtime.container(decode('ContainerStatusRequest', request).containerId);
    return found && encode('ContainerStatusResponse', found);
  },
};

function hasLabels(
  labels: Readonly<Record<string, string>>,
  wanted: Readonly<Record<string, string>> = {},
): boolean {
  return Object.entries(wanted).every(([key, value]) => labels[key] === value);
}

/** Recording of a saved node. It is not trusted: each message is checked when it is needed. */
class RecordedRuntime {
  readonly #node: SavedNode;
  readonly #recording: RuntimeRecording;
  readonly #messages = new Map<string, unknown>();
  #sandboxes: ReadonlyMap<string, MessageTypes['PodSandboxStatusResponse']> | undefined;
  #containers: ReadonlyMap<string, MessageTypes['ContainerStatusResponse']> | undefined;

  /** Throws ConfigError without a recording. */
  constructor(node: SavedNode) {
    this.#node = node;
    const {answers, sandboxes, containers, failures} = node.part(RUNTIME_PART, 'the lists of the runtime');
    if (!isObject(answers) || !isObject(failures) || !Array.isArray(sandboxes) || !Array.isArray(containers))
      throw node.unusable('its lists of the runtime have another form');
    this.#recording = {answers, sandboxes, containers, failures};
  }

  /** Returns the response to a call. Throws ConfigError without one. */
  response<Name extends MessageName>(rpc: RecordedCall, name: Name): MessageTypes[Name] {
    const existing = this.#messages.get(rpc) as MessageTypes[Name] | undefined;
    if (existing !== undefined) return existing;
    const {answers, failures} = this.#recording;
    const failure = failures[rpc];
    if (typeof failure === 'string')
      throw this.#node.unusable(`${rpc} could not be called on the node: ${failure}`);
    const message = this.#message(name, answers[rpc]);
    this.#messages.set(rpc, message);
    return message;
  }

  sandbox(id: string): MessageTypes['PodSandboxStatusResponse'] | undefined {
    this.#sandboxes ??= new Map(
      this.#recording.sandboxes
        .map((each) => this.#message('PodSandboxStatusResponse', each))
        .map((each) => [each.status?.id ?? '', each]),
    );
    return this.#sandboxes.get(id);
  }

  container(id: string): MessageTypes['ContainerStatusResponse'] | undefined {
    this.#containers ??= new Map(
      this.#recording.containers
        .map((each) => this.#message('ContainerStatusResponse', each))
        .map((each) => [each.status?.id ?? '', each]),
    );
    return this.#containers.get(id);
  }

  #message<Name extends MessageName>(name: Name, data: unknown): MessageTypes[Name] {
    try {
      return decode(name, encode(name, fromJson(name, data)));
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      throw this.#node.unusable(`its ${name} has another form: ${error.message}`);
    }
  }
}
