import {KcriError} from '../../base/errors.js';
import type {RuntimeContext} from '../../cli/command/contexts.js';
import {filterPods} from '../pods/filter-pods.js';
import type {ListedPod, ShownPod} from '../pods/listed-pod.js';
import {PodReader} from '../pods/pod-reader.js';
import {listSavedPods, PODS_PART} from '../pods/saved-pods.js';
import type {NotFoundError} from '../../operations/resolve/target.js';
import {findTargets} from '../targets/find-targets.js';
import type {TargetFlagValues} from '../targets/read-targets.js';
import {answerWhy, type Answers} from './answer.js';
import {readNodeState, type NodeState} from './node-answer.js';
import {asksForNode, collectOverview, nodeName, readReport} from './collect-overview.js';
import {NodeReader} from './snapshot/node-reader.js';
import {shortened} from './snapshot/collect-pod.js';
import type {PodSnapshot} from './snapshot/pod-snapshot.js';

/** What is asked about a node. */
export interface Question {
  readonly words: readonly string[];
  readonly flags: TargetFlagValues;
  /** Receives the errors of words that name nothing. */
  readonly onMissing: (error: NotFoundError) => void;
}

/** Facts that `why` answers from, of a whole node. It is plain data that JSON can hold. */
export interface WhySnapshot {
  readonly node: NodeState;
  readonly pods: readonly PodSnapshot[];
}

/** Reads what `why` answers from, or the reason why it cannot be read. */
export async function collectWhy(services: RuntimeContext): Promise<WhySnapshot | {readonly error: string}> {
  try {
    const reader = new PodReader(services);
    const shown = await reader.observe(await reader.select([], {}));
    const report = await readReport(services, shown, true);
    return {
      node: await readNodeState(services, await nodeName(services), {report, failure: reader.runtimeFailure}),
      pods: await withEvents(
        reader,
        shown,
        await collectOverview({services, reader, node: new NodeReader(services), report}, shown),
      ),
    };
  } catch (error) {
    services.signal.throwIfAborted();
    if (!(error instanceof KcriError)) throw error;
    return {error: error.plainMessage};
  }
}

/** Adds the events of pods of which an overview needs none. `snapshots` are in the order of the pods. */
async function withEvents(
  reader: PodReader,
  shown: readonly ShownPod[],
  snapshots: readonly PodSnapshot[],
): Promise<readonly PodSnapshot[]> {
  return await Promise.all(
    snapshots.map(async (snapshot, index) => {
      const listed = shown[index]?.listed;
      if (listed === undefined || snapshot.events.length > 0) return snapshot;
      const events = (await reader.recordedEvents([listed])).map(({event}) => shortened(event));
      return {...snapshot, events};
    }),
  );
}

/** Answers from a saved node. Rejects with ConfigError for one that does not say, and with UsageError. */
export async function answerSaved(
  {connections}: RuntimeContext,
  {words, flags, onMissing}: Question,
): Promise<Answers> {
  await connections.default();
  const {saved} = connections;
  if (saved === undefined) throw new TypeError('not a saved node');
  const part = saved.part(PODS_PART, 'facts about pods');
  const listed = listSavedPods(saved);
  try {
    return answer(part as unknown as WhySnapshot, listed, {words, flags, onMissing});
  } catch (error) {
    // The file is not trusted, and only a foreign one has facts of another form.
    if (error instanceof TypeError) throw saved.unusable('its facts about pods have another form');
    throw error;
  }
}

function answer(
  {node, pods}: WhySnapshot,
  saved: readonly ListedPod[],
  {words, flags, onMissing}: Question,
): Answers {
  const isOfNode = asksForNode(words, node.name);
  const listed = filterPods(saved, flags);
  const snapshotOf = new Map(pods.map((snapshot) => [snapshot.pod.metadata.uid ?? '', snapshot]));
  const {targets, missing} = findTargets(listed, isOfNode ? [] : words, flags);
  for (const error of missing) onMissing(error);
  const answers = targets.flatMap((target) => {
    const snapshot = snapshotOf.get(target.listed.uid);
    return snapshot === undefined
      ? []
      : [answerWhy(snapshot, target.kind === 'container' ? target.name : undefined)];
  });
  if (!isOfNode) return {node: undefined, pods: answers, count: answers.length};
  const unwell = answers.filter(({findings}) => findings.length > 0);
  return {node, pods: unwell, count: answers.length};
}
