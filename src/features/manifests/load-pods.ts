import type {ApiObjects, LocalServices, NodeAndRuntime, PreparedPod} from '../../kubelet/index.js';
import type {PodDocument} from '../../api/manifest/parse-manifest.js';
import {workloadRef, type WorkloadRef} from '../../api/workloads/workload-of-pod.js';
import {jobOf} from '../../api/manifest/expand-documents.js';
import {createRequests, type WorkloadRequest} from './sync-requests.js';
import {ConfigError, UsageError} from '../../base/errors.js';
import type {
  ManifestSet,
  ManifestSource,
  ReadManifestsOptions,
  ServiceDocument,
} from '../../operations/manifests/read-manifests.js';
import type {
  EnvironmentContext,
  RuntimeContext,
  SecretsContext,
  SignalContext,
} from '../../cli/command/contexts.js';
import {manifestOverrides} from './manifest-flags.js';
import type {PodFlagValues} from './pod-flags.js';
import {absoluteSource} from '../../operations/manifests/absolute-source.js';
import {readCommandNode, openNodeCredentials} from './read-command-node.js';

/** Pods from manifests, and their node. */
export interface LoadedPods {
  readonly node: NodeAndRuntime;
  /** Pods, including those of the workloads. */
  readonly pods: readonly PreparedPod[];
  /** Workloads whose pods of other templates are to be deleted; a Job keeps its pods. */
  readonly workloads: readonly WorkloadRef[];
  /** Pods in the order in which they start. */
  readonly requests: readonly WorkloadRequest[];
  /** Objects that the pods refer to. */
  readonly objects: ApiObjects;
  /** Services that select the pods; undefined without any. */
  readonly services: LoadedServices | undefined;
  /** Documents that the manifests consist of besides Pods and the objects that they refer to. */
  readonly documents: Pick<ManifestSet, 'workloads' | 'skipped'>;
}

/** Services of manifests. */
export interface LoadedServices {
  readonly documents: readonly ServiceDocument[];
  readonly local: LocalServices;
}

/** Values of the flags that determine how manifests are read. */
export interface ManifestFlagValues extends PodFlagValues {
  readonly static?: boolean | undefined;
  readonly lenient?: boolean | undefined;
  readonly strict?: boolean | undefined;
  readonly replicas?: number | undefined;
}

/** Returns the options to read manifests. */
function readingOptions(
  {context, signal}: EnvironmentContext & SignalContext,
  flags: ManifestFlagValues,
): ReadManifestsOptions {
  const {lenient = false, strict = false, replicas} = flags;
  if (replicas !== undefined && replicas < 0) throw new UsageError('--replicas must not be negative');
  return {stdin: context.stdin, lenient, strict, replicas, signal};
}

/** Kinds of workloads with `spec.replicas`. */
const REPLICATED = new Set(['Deployment', 'ReplicaSet', 'ReplicationController', 'StatefulSet']);

/** Throws ConfigError if --replicas has no effect on the manifests. */
function assertReplicasUsed({replicas}: ManifestFlagValues, {workloads}: ManifestSet): void {
  if (replicas === undefined || workloads.some(({workload}) => REPLICATED.has(workload.kind))) return;
  throw new ConfigError('--replicas: no object in the manifests has replicas', {
    hint: `these kinds have replicas: ${[...REPLICATED].join(', ')}`,
  });
}

/**
 * Reads and prepares pods, then describes their node. Errors in manifests are reported before the runtime is called.
 * Rejects with ConfigError and PodValidationError.
 */
export async function loadPods(
  services: RuntimeContext & SecretsContext,
  sources: readonly ManifestSource[],
  flags: ManifestFlagValues,
  describe: () => Promise<NodeAndRuntime> = async () => await readCommandNode(services, flags),
): Promise<LoadedPods> {
  const [
    {readManifests},
    {ManifestEditor},
    {preparePods, secretValuesOf, withVolumeAffinity},
    {createReloadingObjects},
    {createManifestFetcher},
  ] = await Promise.all([
    import('../../operations/manifests/read-manifests.js'),
    import('../../operations/manifests/manifest-overrides.js'),
    import('../../kubelet/index.js'),
    import('./reloading-objects.js'),
    import('./fetch-manifest-url.js'),
  ]);
  const {context, report, secrets} = services;
  const editor = new ManifestEditor(manifestOverrides(flags));
  const fetch = createManifestFetcher({clock: context.clock, warn: report.warn});
  const reading = {...readingOptions(services, flags), edit: editor.edit, fetch};
  const manifests = await readManifests(sources, reading);
  editor.assertUsed();
  assertReplicasUsed(flags, manifests);
  const hide = secrets.add.bind(secrets);
  hide(manifests.objects.flatMap(({object}) => secretValuesOf(object)));
  for (const warning of manifests.warnings) report.warn(warning);
  for (const note of manifests.notes) report.info(`kcri: ${note}`);
  const objects = createReloadingObjects(sources, manifests, {
    ...reading,
    strict: false,
    warn: report.warn,
    hide,
  });
  const options = {static: flags.static ?? false, seenAtMs: context.clock.now(), objects};
  // Rejects unsupported fields before a connection is made; the node is only known afterwards.
  preparePods(manifests.pods, {...options, nodeName: 'node'});
  const imageCredentials = await openNodeCredentials(services, flags);
  const node = {...(await describe()), imageCredentials};
  const {nodeName, rootDir} = node.node;
  const full = {...options, nodeName, rootDir};
  const prepare = (documents: readonly PodDocument[]) => preparePods(documents, full).map(withAbsoluteSource);
  const pods = prepare(manifests.pods);
  const requests = createRequests(pods, manifests.workloads, (document) => {
    const [prepared] = prepare([document]);
    if (prepared === undefined) throw new Error('a document was not prepared');
    return prepared;
  });
  const workloads = manifests.workloads
    .filter((document) => jobOf(document) === undefined)
    .map(({workload}) => workloadRef(workload));
  const loaded = await loadServices(manifests, node);
  const local = withVolumeAffinity(objects, node.node);
  return {
    ...{node, pods, workloads, requests, services: loaded, documents: manifests},
    objects: loaded === undefined ? local : loaded.bind(local),
  };
}

/** Returns a pod whose source does not depend on the working directory, so that later syncs recognize it. */
function withAbsoluteSource(prepared: PreparedPod): PreparedPod {
  return {...prepared, source: absoluteSource(prepared.source)};
}

/** Returns the Services of manifests, and the function that adds them to other objects; undefined without any. */
async function loadServices(
  {objects}: ManifestSet,
  {node, clock}: NodeAndRuntime,
): Promise<(LoadedServices & {readonly bind: (objects: ApiObjects) => ApiObjects}) | undefined> {
  const {isService} = await import('../../operations/manifests/read-manifests.js');
  const documents = objects.filter(isService);
  if (documents.length === 0) return undefined;
  const {LocalServices: Local, withLocalServices} = await import('../../kubelet/index.js');
  const services = documents.map(({object}) => object);
  const local = new Local({services, clusterDomain: node.clusterDomain, clock});
  return {documents, local, bind: (others) => withLocalServices(others, local)};
}
