import {ConfigError} from '../../base/errors.js';
import {isObject} from '../../base/is-object.js';
import {completeMessage} from '../../cri/complete-message.js';
import {fromJson} from '../../cri/index.js';
import type {MessageName} from '../../cri/gen/schema.js';
import type {MessageTypes} from '../../cri/gen/types.js';
import type {RecordedAnswers} from '../../cri/recorded-transport.js';
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

/** Returns the functions that answer the calls to the runtime of a saved node. They throw ConfigError for what it does not have. */
export function answersOf(node: SavedNode): RecordedAnswers {
  let opened: RecordedRuntime | undefined;
  const runtime = (): RecordedRuntime => (opened ??= new RecordedRuntime(node));
  return {
    Version: () => runtime().response('Version', 'VersionResponse'),
    Status: () => runtime().response('Status', 'StatusResponse'),
    ListImages: () => runtime().response('ListImages', 'ListImagesResponse'),
    ListPodSandbox: ({filter}) => ({
      items: runtime()
        .response('ListPodSandbox', 'ListPodSandboxResponse')
        .items.filter((sandbox) => isSelected(sandbox, filter)),
    }),
    ListContainers: ({filter}) => ({
      containers: runtime()
        .response('ListContainers', 'ListContainersResponse')
        .containers.filter(
          (container) =>
            isSelected(container, filter) && container.podSandboxId.startsWith(filter?.podSandboxId ?? ''),
        ),
    }),
    PodSandboxStatus: ({podSandboxId}) => runtime().sandbox(podSandboxId),
    ContainerStatus: ({containerId}) => runtime().container(containerId),
  };
}

/** Object of a list, and the part of its filter that all lists have. */
interface Listed {
  readonly id: string;
  readonly state: string;
  readonly labels: Readonly<Record<string, string>>;
}
type Filter = Partial<Pick<Listed, 'id'>> & {
  readonly state?: Pick<Listed, 'state'> | undefined;
  readonly labelSelector?: Listed['labels'];
};

function isSelected({id, state, labels}: Listed, filter: Filter = {}): boolean {
  return (
    id.startsWith(filter.id ?? '') &&
    (filter.state === undefined || state === filter.state.state) &&
    hasLabels(labels, filter.labelSelector)
  );
}

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
      return completeMessage(name, fromJson(name, data));
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      throw this.#node.unusable(`its ${name} has another form: ${error.message}`);
    }
  }
}
