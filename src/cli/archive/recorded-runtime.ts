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
  'ListContainerStats',
  'ListPodSandboxStats',
] as const;

export type RecordedCall = (typeof RECORDED_CALLS)[number];

/** Calls of which two samples are saved, since usage is the difference of two. */
export const SAMPLED_CALLS = ['ListContainerStats', 'ListPodSandboxStats'] as const;
type SampledCall = (typeof SAMPLED_CALLS)[number];

/** Responses of a runtime as proto JSON, in an archive. */
export interface RuntimeRecording {
  readonly answers: Readonly<Partial<Record<RecordedCall, unknown>>>;
  /** Earlier responses of the calls with two samples. */
  readonly before: Readonly<Partial<Record<SampledCall, unknown>>>;
  /** Responses of PodSandboxStatus and ContainerStatus. */
  readonly sandboxes: readonly unknown[];
  readonly containers: readonly unknown[];
  /** Reasons why calls have no response, by method. */
  readonly failures: Readonly<Partial<Record<RecordedCall, string>>>;
}

/** Name of the part of an archive with the recording. */
export const RUNTIME_PART = 'runtime';

/** Verbose information by ID, in an archive; that of the runtime has the ID RUNTIME_ID. */
export interface DetailsRecording {
  readonly sandboxes: Readonly<Record<string, VerboseInfo>>;
  readonly containers: Readonly<Record<string, VerboseInfo>>;
  /** Absent in an archive of an older version, as `runtime` is. */
  readonly images?: Readonly<Record<string, VerboseInfo>>;
  readonly runtime?: Readonly<Record<string, VerboseInfo>>;
}

/** ID of the runtime in its part of the verbose information. */
export const RUNTIME_ID = 'status';

type VerboseInfo = Readonly<Record<string, string>>;

/** Name of the part of an archive with verbose information. */
export const DETAILS_PART = 'details';

/** Returns the functions that answer the calls to the runtime of a saved node. They throw ConfigError for what it does not have. */
export function answersOf(node: SavedNode): RecordedAnswers {
  let opened: RecordedRuntime | undefined;
  const runtime = (): RecordedRuntime => (opened ??= new RecordedRuntime(node));
  return {
    Version: () => runtime().response('Version', 'VersionResponse'),
    Status: ({verbose}) =>
      withInfo(
        runtime().response('Status', 'StatusResponse'),
        runtime().info('runtime', RUNTIME_ID),
        verbose,
      ),
    ImageStatus: ({image, verbose}) => {
      const ref = image?.image ?? '';
      const {images} = runtime().response('ListImages', 'ListImagesResponse');
      const found = images.find(
        ({id, repoTags, repoDigests}) => id === ref || repoTags.includes(ref) || repoDigests.includes(ref),
      );
      if (found === undefined) return {};
      return withInfo({image: found, info: {}}, runtime().info('images', found.id), verbose);
    },
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
    PodSandboxStatus: ({podSandboxId, verbose}) =>
      withInfo(runtime().sandbox(podSandboxId), runtime().info('sandboxes', podSandboxId), verbose),
    ContainerStatus: ({containerId, verbose}) =>
      withInfo(runtime().container(containerId), runtime().info('containers', containerId), verbose),
    ListContainerStats: ({filter}) => {
      const sandbox = filter?.podSandboxId ?? '';
      const inSandbox = sandbox === '' ? undefined : runtime().containersOf(sandbox);
      return {
        stats: runtime()
          .sample('ListContainerStats', 'ListContainerStatsResponse')
          .stats.filter(
            ({attributes}) =>
              isMeasured(attributes, filter) && (inSandbox?.has(attributes?.id ?? '') ?? true),
          ),
      };
    },
    ListPodSandboxStats: ({filter}) => ({
      stats: runtime()
        .sample('ListPodSandboxStats', 'ListPodSandboxStatsResponse')
        .stats.filter(({attributes}) => isMeasured(attributes, filter)),
    }),
  };
}

/** Object of a list, and the part of its filter that all lists have. */
interface Listed {
  readonly id: string;
  readonly state: string;
  readonly labels: Readonly<Record<string, string>>;
}
/** Returns a status with its verbose information, as far as it was saved, if that is asked for. */
function withInfo<Response extends {readonly info: VerboseInfo}>(
  response: Response | undefined,
  info: VerboseInfo | undefined,
  verbose: boolean,
): Response | undefined {
  if (response === undefined || !verbose) return response && {...response, info: {}};
  return {...response, info: info ?? response.info};
}

/** Reports whether stats match a filter, which has no state. */
function isMeasured(
  {id, labels}: Partial<Pick<Listed, 'id' | 'labels'>> = {},
  filter: Pick<Filter, 'id' | 'labelSelector'> = {},
): boolean {
  return (id ?? '').startsWith(filter.id ?? '') && hasLabels(labels ?? {}, filter.labelSelector);
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
  /** Calls whose earlier sample was returned. */
  readonly #sampled = new Set<SampledCall>();
  #details: Readonly<Record<string, unknown>> | undefined;
  #sandboxes: ReadonlyMap<string, MessageTypes['PodSandboxStatusResponse']> | undefined;
  #containers: ReadonlyMap<string, MessageTypes['ContainerStatusResponse']> | undefined;

  /** Throws ConfigError without a recording. */
  constructor(node: SavedNode) {
    this.#node = node;
    const {
      answers,
      before = {},
      sandboxes,
      containers,
      failures,
    } = node.part(RUNTIME_PART, 'the lists of the runtime', {inJson: true});
    if (!isObject(answers) || !isObject(before) || !isObject(failures))
      throw node.unusable('its lists of the runtime have another form');
    if (!Array.isArray(sandboxes) || !Array.isArray(containers))
      throw node.unusable('its statuses of the runtime have another form');
    this.#recording = {answers, before, sandboxes, containers, failures};
  }

  /** Returns the earlier sample of a call first, and then the later one. Throws ConfigError without one. */
  sample<Name extends MessageName>(rpc: SampledCall, name: Name): MessageTypes[Name] {
    const {answers, before, failures} = this.#recording;
    if (answers[rpc] === undefined && failures[rpc] === undefined) throw this.#node.lacks('statistics');
    if (this.#sampled.has(rpc) || before[rpc] === undefined) return this.response(rpc, name);
    this.#sampled.add(rpc);
    return this.#message(name, before[rpc]);
  }

  /** Returns the IDs of the containers of a sandbox, whose ID may be shortened. */
  containersOf(sandbox: string): ReadonlySet<string> {
    const {containers} = this.response('ListContainers', 'ListContainersResponse');
    return new Set(containers.filter(({podSandboxId}) => podSandboxId.startsWith(sandbox)).map(({id}) => id));
  }

  /** Returns the verbose information of an object; undefined if it was not saved. Throws ConfigError for another form. */
  info(kind: keyof DetailsRecording, id: string): VerboseInfo | undefined {
    if (!this.#node.has(DETAILS_PART)) return undefined;
    this.#details ??= this.#node.part(DETAILS_PART, 'verbose information', {inJson: true});
    const infos = this.#details[kind];
    if (infos === undefined) return undefined;
    const info = isObject(infos) && Object.hasOwn(infos, id) ? infos[id] : undefined;
    if (!isObject(infos) || (info !== undefined && !isInfo(info)))
      throw this.#node.unusable('its verbose information has another form');
    return info;
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

function isInfo(value: unknown): value is VerboseInfo {
  return isObject(value) && Object.values(value).every((text) => typeof text === 'string');
}
