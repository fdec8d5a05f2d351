import {forEachLimit} from '../../base/async/for-each-limit.js';
import type {OutputContext, RuntimeContext} from '../../cli/command/contexts.js';
import type {OutputFlagValues, OutputFormat} from '../../cli/output/output-format.js';
import {formatSorted, parseOutputFormat} from '../../cli/output/parse-output-format.js';
import {EXIT} from '../../cli/process/exit-codes.js';
import type {ShownPod} from '../pods/listed-pod.js';
import {readTargets, type TargetFlagValues} from '../targets/read-targets.js';
import type {NotFoundError} from '../../operations/resolve/find-by-name.js';
import type {LifecycleTarget} from '../targets/find-targets.js';
import {answersJson, answerWhy, commandPrefix, isWrong, type Answer, type Answers} from './answer.js';
import {answersText} from './answer-text.js';
import {readNodeState} from './node-answer.js';
import {collectPod, type PodSources} from './snapshot/collect-pod.js';
import {asksForNode, AT_ONCE, collectOverview, nodeName, readReport} from './collect-overview.js';
import type {Question} from './saved-node.js';
import {NodeReader} from './snapshot/node-reader.js';
import type {PodSnapshot} from './snapshot/pod-snapshot.js';

/** Output formats of `why`. */
export const WHY_FORMATS = ['table', 'json', 'yaml'] as const;

/** Flags of `why`. */
export interface WhyFlags extends TargetFlagValues, OutputFlagValues {
  /** Snapshot of a node to examine instead of this one. */
  readonly from?: string | undefined;
}

/** Context of `why`. */
type WhyContext = RuntimeContext & OutputContext;

/**
 * Prints why pods and containers are in their state, or, without words or for the node, what is wrong with the node, and a
 * line about each pod that is not well. Sets the exit code. Rejects with KcriError.
 */
export async function runWhy(services: WhyContext, words: readonly string[], flags: WhyFlags): Promise<void> {
  const form = await parseOutputFormat(flags, WHY_FORMATS);
  const onMissing = (error: NotFoundError): void => {
    services.report.setExitCode(EXIT.notDiagnosed);
    services.report.fail(error);
  };
  const {from} = flags;
  const answers =
    from === undefined
      ? await answerLive(services, {words, flags, onMissing})
      : await (await import('./saved-node.js')).answerSaved(services, from, {words, flags, onMissing});
  await printAnswers(services, form, answers);
}

/** Answers about the node and its pods as they are. */
async function answerLive(services: RuntimeContext, {words, flags, onMissing}: Question): Promise<Answers> {
  const node = await nodeName(services);
  const isOfNode = asksForNode(words, node);
  const {reader, targets} = await readTargets(services, isOfNode ? [] : words, flags, {
    acceptsAll: true,
    onMissing,
  });
  const shown = await reader.observe(targets.map(({listed}) => listed));
  const kubelet = await readReport(services, shown, isOfNode);
  const sources: PodSources = {services, reader, node: new NodeReader(services), report: kubelet};
  if (isOfNode)
    return {
      node: await readNodeState(services, node, {report: kubelet, failure: reader.runtimeFailure}),
      pods: await answerUnwell(sources, shown),
      count: shown.length,
    };
  const pods = await answerTargets(sources, targets, shown);
  reader.requireRuntime();
  return {node: undefined, pods, count: shown.length};
}

/** Prints answers and sets the exit code. */
async function printAnswers(
  services: WhyContext,
  form: OutputFormat<(typeof WHY_FORMATS)[number]>,
  answers: Answers,
): Promise<void> {
  const {out, report} = services;
  const prefix = commandPrefix(services);
  if (form.kind === 'table') out.printText(answersText(answers, prefix));
  else out.printData((await formatSorted(form, answersJson(answers, prefix))).replace(/\n\n$/, '\n'));
  if (answers.pods.some(isWrong) || (answers.node?.findings ?? []).length > 0)
    report.setExitCode(EXIT.failed);
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

/** Returns the answers about the pods that are not well. */
async function answerUnwell(sources: PodSources, shown: readonly ShownPod[]): Promise<readonly Answer[]> {
  const snapshots = await collectOverview(sources, shown);
  return snapshots.map((each) => answerWhy(each)).filter(({findings}) => findings.length > 0);
}
