import {isPartial} from '../../api/manager-annotation.js';
import {messageOf, rethrowUnexpected} from '../../base/errors.js';
import type {RuntimeContext} from '../../cli/command/contexts.js';
import type {MeasuredUsage, NodeVolume, VolumeFacts, VolumePod} from '../../kubelet/index.js';
import type {ShownPod} from '../pods/listed-pod.js';
import {PodReader} from '../pods/pod-reader.js';
import type {ListedPodFlagValues} from '../pods/pod-selection-flags.js';

/** A volume of the node with its usage, if it was measured. */
export interface ListedVolume {
  readonly volume: NodeVolume;
  readonly measured: MeasuredUsage | undefined;
}

/**
 * Returns the volumes of the pods that words and flags select; without a selection also those of unknown pods, and those that no
 * pod has. Undefined if words name only missing pods, which is reported. Warns about what cannot be read. Rejects with KcriError.
 */
export async function listVolumes(
  services: RuntimeContext,
  words: readonly string[],
  flags: ListedPodFlagValues,
): Promise<readonly ListedVolume[] | undefined> {
  const {context, signal} = services;
  const reader = new PodReader(services);
  const selection = flags['all-namespaces'] ? {...flags, namespace: undefined} : flags;
  const listed = await reader.select(words, selection);
  reader.requireRuntime();
  if (words.length > 0 && listed.length === 0) return undefined;
  const shown = await reader.observe(listed);
  const {measureVolumes, systemMounter} = await import('../../kubelet/index.js');
  const all = await readNodeVolumes(services, reader, await readVolumePods(services, reader, shown));
  const volumes = all.filter((volume) => isSelected(volume, words, selection));
  const mounts = await systemMounter.list();
  const measured = await measureVolumes(volumes, {clock: context.clock, signal, mounts});
  return volumes.map((volume) => withUsage(volume, measured.get(volume)));
}

/** Returns the volumes of this machine, if its pods are these. Warns about what cannot be read. */
export async function readNodeVolumes(
  services: RuntimeContext,
  reader: PodReader,
  pods: readonly VolumePod[],
): Promise<readonly NodeVolume[]> {
  const {computeVolumes} = await import('../../kubelet/index.js');
  const facts = await readFacts(services);
  for (const problem of new Set(facts.flatMap(({problems}) => problems)))
    services.report.warn(`not all volumes are shown: ${problem}`);
  const own = facts.find(({requestedDir}) => requestedDir === services.settings.rootDir);
  const knowsAllPods = (root: VolumeFacts): boolean => knowsPods(reader, root === own && root.isOfKcri);
  return computeVolumes({facts, pods, knowsAllPods});
}

/** Reads the root directories of kcri and of the machine's kubelet; warns about one that cannot be read. */
async function readFacts({context, settings, report}: RuntimeContext): Promise<readonly VolumeFacts[]> {
  const {readVolumeFacts} = await import('../../kubelet/index.js');
  const {LOCAL_KUBELET} = await import('../pods/local-kubelet.js');
  const {localKubelet} = context;
  const {rootDir} = (localKubelet === 'default' ? LOCAL_KUBELET : localKubelet) ?? {};
  const found = new Map<string, VolumeFacts>();
  for (const directory of new Set([settings.rootDir, ...(rootDir === undefined ? [] : [rootDir])]))
    try {
      const facts = await readVolumeFacts(directory);
      if (facts !== undefined) found.set(facts.rootDir, facts);
    } catch (error) {
      rethrowUnexpected(error);
      report.warn(`not all volumes are shown: ${messageOf(error)}`);
    }
  return [...found.values()];
}

/** Returns what is known about the volumes of pods besides their directories. Rejects with SystemError. */
export async function readVolumePods(
  {context, settings}: RuntimeContext,
  reader: PodReader,
  shown: readonly ShownPod[],
): Promise<readonly VolumePod[]> {
  const {PodHistories} = await import('../../kubelet/index.js');
  const histories = new PodHistories(settings.rootDir, context.clock);
  const events = await reader.recordedEvents(shown.map(({listed}) => listed));
  return await Promise.all(
    shown.map(async ({listed: {uid, namespace, name, record}, pod}) => ({
      ...{uid, namespace, name, pod: isPartial(pod) ? undefined : pod},
      events: events.filter((each) => each.record.uid === uid).map(({event}) => event),
      histories: record === undefined ? [] : await histories.volumes(uid),
    })),
  );
}

/**
 * Reports whether all pods of a root directory are known: the runtime was read, and either kcri has records of them or their
 * kubelet has said which ones it has.
 */
function knowsPods({runtimeFailure, kubeletHasAnswered}: PodReader, haveRecords: boolean): boolean {
  return runtimeFailure === undefined && (haveRecords || kubeletHasAnswered);
}

/** Reports whether a volume is shown; one without a known pod only if nothing selects pods. */
function isSelected(
  {pod, claim}: NodeVolume,
  words: readonly string[],
  {namespace, selector, manager}: ListedPodFlagValues,
): boolean {
  if (pod?.name !== undefined) return true;
  if (words.length > 0 || selector !== undefined || manager !== undefined) return false;
  return namespace === undefined || claim?.startsWith(`${namespace}/`) === true;
}

/** Turns a mounted volume whose file system does not answer into an error. */
function withUsage(volume: NodeVolume, measured: MeasuredUsage | undefined): ListedVolume {
  const {state, message} = volume;
  if (measured === undefined || !('error' in measured)) return {volume, measured};
  const failed: NodeVolume =
    state === 'orphaned' ? volume : {...volume, state: 'error', message: message ?? measured.error};
  return {volume: failed, measured};
}
