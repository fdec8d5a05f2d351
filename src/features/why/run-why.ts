import {forEachLimit} from '../../base/async/for-each-limit.js';
import type {OutputContext, RuntimeContext} from '../../cli/command/contexts.js';
import type {OutputFlagValues} from '../../cli/output/output-format.js';
import {formatSorted, parseOutputFormat} from '../../cli/output/parse-output-format.js';
import {EXIT} from '../../cli/process/exit-codes.js';
import type {KubeletReport} from '../../kubelet/index.js';
import {fetchKubeletReport} from '../node/kubelet-reports.js';
import type {ShownPod} from '../pods/listed-pod.js';
import {readTargets, type TargetFlagValues} from '../targets/read-targets.js';
import type {LifecycleTarget} from '../targets/find-targets.js';
import {answersJson, answerWhy, commandPrefix, isWrong, type Answer} from './answer.js';
import {answersText} from './answer-text.js';
import {readNodeState} from './node-answer.js';
import {collectPod, type PodSources} from './snapshot/collect-pod.js';
import {NodeReader} from './snapshot/node-reader.js';
import type {PodSnapshot} from './snapshot/pod-snapshot.js';
import {snapshotOfStatus} from './snapshot/status-snapshot.js';

/** Output formats of `why`. */
export const WHY_FORMATS = ['table', 'json', 'yaml'] as const;

/** Context of `why`. */
type WhyContext = RuntimeContext & OutputContext;

/** Number of pods whose facts are read in an overview; the others are judged by their status. */
const MAX_COLLECTED = 50;
/** Number of pods whose facts are read at once. */
const AT_ONCE = 4;

/**
 * Prints why pods and containers are in their state, or, without words or for the node, what is wrong with the node, and a
 * line about each pod that is not well. Sets the exit code. Rejects with KcriError.
 */
export async function runWhy(
  services: WhyContext,
  words: readonly string[],
  flags: TargetFlagValues & OutputFlagValues,
): Promise<void> {
  const {out, report} = services;
  const form = await parseOutputFormat(flags, WHY_FORMATS);
  const node = await nodeName(services);
  const isOfNode = words.length === 0 || (words.length === 1 && ['node', node].includes(words[0] ?? ''));
  const {reader, targets} = await readTargets(services, isOfNode ? [] : words, flags, {
    acceptsAll: true,
    onMissing: (error) => {
      report.setExitCode(EXIT.notDiagnosed);
      report.fail(error);
    },
  });
  const shown = await reader.observe(targets.map(({listed}) => listed));
  const kubelet = await readReport(services, shown, isOfNode);
  const sources: PodSources = {services, reader, node: new NodeReader(services), report: kubelet};
  const answers = isOfNode
    ? {
        node: await readNodeState(services, node, {report: kubelet, failure: reader.runtimeFailure}),
        pods: await answerUnwell(sources, shown),
        count: shown.length,
      }
    : {node: undefined, pods: await answerTargets(sources, targets, shown), count: shown.length};
  if (!isOfNode) reader.requireRuntime();
  const prefix = commandPrefix(services);
  if (form.kind === 'table') out.printText(answersText(answers, prefix));
  else out.printData((await formatSorted(form, answersJson(answers, prefix))).replace(/\n\n$/, '\n'));
  if (answers.pods.some(isWrong) || (answers.node?.findings ?? []).length > 0)
    report.setExitCode(EXIT.failed);
}

async function nodeName({connections, settings}: WhyContext): Promise<string> {
  if ((await settings.remoteEndpoint()) !== undefined) {
    await connections.default();
    return connections.remote?.node.host ?? '';
  }
  const {resolveNodeName} = await import('../../kubelet/index.js');
  return resolveNodeName(undefined);
}

/** Returns the report of the running kubelet, which only this machine's root directory has. */
async function readReport(
  services: WhyContext,
  shown: readonly ShownPod[],
  isOverview: boolean,
): Promise<KubeletReport | undefined> {
  if ((await services.settings.remoteEndpoint()) !== undefined) return undefined;
  const uids = shown.filter(({listed}) => listed.record !== undefined).map(({listed}) => listed.uid);
  return uids.length === 0 && !isOverview ? undefined : await fetchKubeletReport(services, uids);
}

/** Returns the answers about pods and containers, in their order. */
async function answerTargets(
  sources: PodSources,
  targets: readonly LifecycleTarget[],
  shown: readonly ShownPod[],
): Promise<readonly Answer[]> {
  const snapshots = new Map<string, PodSnapshot>();
  await forEachLimit(shown, AT_ONCE, async (each) => {
    snapshots.set(each.listed.uid, await collectPod(sources, each));
  });
  return targets.flatMap((target) => {
    const snapshot = snapshots.get(target.listed.uid);
    if (snapshot === undefined) return [];
    return answerWhy(snapshot, target.kind === 'container' ? target.name : undefined);
  });
}

/** Returns the answers about the pods that are not well; only the facts of the first ones are read. */
async function answerUnwell(sources: PodSources, shown: readonly ShownPod[]): Promise<readonly Answer[]> {
  const nowMs = sources.services.context.clock.now();
  const judged = shown.map((each) => ({each, answer: answerWhy(snapshotOfStatus(each, nowMs))}));
  const unwell = judged.filter(({answer: {findings}}) => findings.length > 0);
  const answers = new Map(unwell.map(({each, answer}) => [each.listed.uid, answer]));
  // The answer about the node says that its runtime is unavailable; of the pods, the last known state counts.
  const collected = sources.reader.runtimeFailure === undefined ? unwell.slice(0, MAX_COLLECTED) : [];
  await forEachLimit(collected, AT_ONCE, async ({each}) => {
    answers.set(each.listed.uid, answerWhy(await collectPod(sources, each)));
  });
  return unwell.flatMap(({each}) => answers.get(each.listed.uid) ?? []);
}
