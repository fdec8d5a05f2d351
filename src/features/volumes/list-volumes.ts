import {isPartial} from '../../api/manager-annotation.js';
import {messageOf, rethrowUnexpected} from '../../base/errors.js';
import {groupBy} from '../../base/by-name.js';
import type {RuntimeContext} from '../../cli/command/contexts.js';
import type {MeasuredUsage, NodeVolume, VolumeFacts, VolumePod} from '../../kubelet/index.js';
import type {RecordedPodEvent} from '../events/event-table.js';
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
  const {computeVolumes, measureVolumes, systemMounter} = await import('../../kubelet/index.js');
  const pods = await readVolumePods(services, reader, shown);
  const facts = await readFacts(services);
  const showsUnknown = words.length === 0 && listsAll(selection);
  const started = showsUnknown ? await readStartedPods(services, reader, {pods, facts}) : [];
  const knowsAllPods = podsKnower(services, reader, facts);
  const all = computeVolumes({facts, pods: [...pods, ...started], knowsAllPods});
  const volumes = all.filter((volume) => isSelected(volume, words, selection));
  const mounts = await systemMounter.list();
  const measured = await measureVolumes(volumes, {clock: context.clock, signal, mounts});
  return volumes.map((volume) => withUsage(volume, measured.get(volume)));
}

/** Returns the volumes of pods on this machine, and those that no pod has. Warns about what cannot be read. */
export async function readPodVolumes(
  services: RuntimeContext,
  reader: PodReader,
  pods: readonly VolumePod[],
): Promise<readonly NodeVolume[]> {
  const {computeVolumes} = await import('../../kubelet/index.js');
  const facts = await readFacts(services, new Set(pods.map(({uid}) => uid)));
  return computeVolumes({facts, pods, knowsAllPods: podsKnower(services, reader, facts)});
}

/**
 * Reads the root directories of kcri and of the machine's kubelet, by default with the directories of all pods; warns about what
 * cannot be read.
 */
async function readFacts(
  {context, settings, report}: RuntimeContext,
  uids?: ReadonlySet<string>,
): Promise<readonly VolumeFacts[]> {
  const {readVolumeFacts} = await import('../../kubelet/index.js');
  const {LOCAL_KUBELET} = await import('../pods/local-kubelet.js');
  const {localKubelet} = context;
  const {rootDir} = (localKubelet === 'default' ? LOCAL_KUBELET : localKubelet) ?? {};
  const found = new Map<string, VolumeFacts>();
  const problems = new Set<string>();
  for (const directory of new Set([settings.rootDir, ...(rootDir === undefined ? [] : [rootDir])]))
    try {
      const facts = await readVolumeFacts(directory, {uids});
      // Both may be the same directory, which then is that of kcri.
      if (facts !== undefined && !found.has(facts.rootDir)) found.set(facts.rootDir, facts);
      for (const problem of facts?.problems ?? []) problems.add(problem);
    } catch (error) {
      rethrowUnexpected(error);
      problems.add(messageOf(error));
    }
  for (const problem of problems) report.warn(`not all volumes are shown: ${problem}`);
  return [...found.values()];
}

/** Reads the pods that have started since the others were listed, and already have directories. */
async function readStartedPods(
  services: RuntimeContext,
  reader: PodReader,
  {pods, facts}: {readonly pods: readonly VolumePod[]; readonly facts: readonly VolumeFacts[]},
): Promise<readonly VolumePod[]> {
  const known = new Set(pods.map(({uid}) => uid));
  const unknown = new Set(facts.flatMap(({uids}) => uids).filter((uid) => !known.has(uid)));
  if (unknown.size === 0) return [];
  const listed = (await reader.select([], {})).filter(({uid}) => unknown.has(uid));
  return listed.length === 0 ? [] : await readVolumePods(services, reader, await reader.observe(listed));
}

/** Returns what is known about the volumes of pods besides their directories, with these or all recorded events. Rejects with SystemError. */
export async function readVolumePods(
  {context, settings}: RuntimeContext,
  reader: PodReader,
  shown: readonly ShownPod[],
  recorded?: readonly RecordedPodEvent[],
): Promise<readonly VolumePod[]> {
  const {PodHistories} = await import('../../kubelet/index.js');
  const histories = new PodHistories(settings.rootDir, context.clock);
  const events = recorded ?? (await reader.recordedEvents(shown.map(({listed}) => listed)));
  const byPod = groupBy(events, (each) => each.record.uid);
  return await Promise.all(
    shown.map(async ({listed: {uid, namespace, name, record}, pod}) => ({
      ...{uid, namespace, name, pod: isPartial(pod) ? undefined : pod},
      events: (byPod.get(uid) ?? []).map(({event}) => event),
      histories: record === undefined ? [] : await histories.volumes(uid),
    })),
  );
}

/**
 * Returns what reports whether all pods of a root directory are known: the runtime was read, and either kcri has records of them or their
 * kubelet has said which ones it has.
 */
function podsKnower(
  {settings}: RuntimeContext,
  reader: PodReader,
  facts: readonly VolumeFacts[],
): (root: VolumeFacts) => boolean {
  const own = facts.find(({requestedDir}) => requestedDir === settings.rootDir);
  return (root) =>
    reader.runtimeFailure === undefined && ((root === own && root.isOfKcri) || reader.kubeletHasAnswered);
}

/** Reports whether flags select no pods. */
function listsAll({namespace, selector, manager}: ListedPodFlagValues): boolean {
  return namespace === undefined && selector === undefined && manager === undefined;
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
