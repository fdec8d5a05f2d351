import {forEachLimit} from '../../base/async/for-each-limit.js';
import type {RuntimeContext} from '../../cli/command/contexts.js';
import type {KubeletReport} from '../../kubelet/index.js';
import {fetchKubeletReport} from '../node/kubelet-reports.js';
import type {ShownPod} from '../pods/listed-pod.js';
import {diagnose} from './causes/diagnose.js';
import {collectPod, type PodSources} from './snapshot/collect-pod.js';
import type {PodSnapshot} from './snapshot/pod-snapshot.js';
import {snapshotOfStatus} from './snapshot/status-snapshot.js';

/** Number of pods whose facts are read in an overview; the others are judged by their status. */
const MAX_COLLECTED = 50;
/** Number of pods whose facts are read at once. */
export const AT_ONCE = 4;

/** Returns snapshots of all pods, in their order. Only the facts of the first ones that are not well are read. */
export async function collectOverview(
  sources: PodSources,
  shown: readonly ShownPod[],
): Promise<readonly PodSnapshot[]> {
  const nowMs = sources.services.context.clock.now();
  const judged = shown.map((each) => ({each, snapshot: snapshotOfStatus(each, nowMs)}));
  // The answer about the node says that its runtime is unavailable; of the pods, the last known state counts.
  const collected =
    sources.reader.runtimeFailure === undefined
      ? judged.filter(({snapshot}) => diagnose(snapshot).length > 0).slice(0, MAX_COLLECTED)
      : [];
  const snapshots = new Map(judged.map(({each, snapshot}) => [each, snapshot]));
  await forEachLimit(collected, AT_ONCE, async ({each}) => {
    snapshots.set(each, await collectPod(sources, each));
  });
  return [...snapshots.values()];
}

/** Returns the name of the node. */
export async function nodeName({connections, settings}: RuntimeContext): Promise<string> {
  if ((await settings.remoteEndpoint()) !== undefined) {
    await connections.default();
    return connections.remote?.node.host ?? '';
  }
  const {resolveNodeName} = await import('../../kubelet/index.js');
  return resolveNodeName(undefined);
}

/** Reports whether the words of `why` ask for the node. */
export function asksForNode(words: readonly string[], node: string): boolean {
  return words.length === 0 || (words.length === 1 && ['node', node].includes(words[0] ?? ''));
}

/** Returns the report of the running kubelet, which only this machine's root directory has. */
export async function readReport(
  services: RuntimeContext,
  shown: readonly ShownPod[],
  isOverview: boolean,
): Promise<KubeletReport | undefined> {
  if ((await services.settings.remoteEndpoint()) !== undefined) return undefined;
  const uids = shown.filter(({listed}) => listed.record !== undefined).map(({listed}) => listed.uid);
  return uids.length === 0 && !isOverview ? undefined : await fetchKubeletReport(services, uids);
}
