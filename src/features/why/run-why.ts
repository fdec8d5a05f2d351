import {forEachLimit} from '../../base/async/for-each-limit.js';
import type {CommandContext, OutputContext, RuntimeContext} from '../../cli/command/contexts.js';
import type {OutputFlagValues, OutputFormat} from '../../cli/output/output-format.js';
import {formatSorted, parseOutputFormat} from '../../cli/output/parse-output-format.js';
import {EXIT} from '../../cli/process/exit-codes.js';
import type {ShownPod} from '../pods/listed-pod.js';
import {readTargets, type TargetFlagValues} from '../targets/read-targets.js';
import type {NotFoundError} from '../../operations/resolve/target.js';
import type {LifecycleTarget} from '../targets/find-targets.js';
import {
  answersJson,
  answerWhy,
  areWrong,
  commandPrefix,
  WHY_FORMATS,
  type Answer,
  type Answers,
} from './answer.js';
import {answersText} from './answer-text.js';
import {readNodeState} from './node-answer.js';
import {collectPod, type PodSources} from './snapshot/collect-pod.js';
import {asksForNode, AT_ONCE, collectOverview, nodeName, readReport} from './collect-overview.js';
import type {Question} from './saved-node.js';
import {NodeReader} from './snapshot/node-reader.js';
import type {PodSnapshot} from './snapshot/pod-snapshot.js';

/** Flags of `why`. */
export interface WhyFlags extends TargetFlagValues, OutputFlagValues {
  /** Saved nodes to examine instead of running ones. */
  readonly from?: readonly string[] | undefined;
}

/**
 * Prints why pods and containers are in their state, or, without words or for the node, what is wrong with the node, and a
 * line about each pod that is not well; of several nodes a line about each before. Sets the exit code. Rejects with KcriError.
 */
export async function runWhy(
  services: CommandContext,
  words: readonly string[],
  flags: WhyFlags,
): Promise<void> {
  const form = await parseOutputFormat(flags, WHY_FORMATS);
  if (services.settings.runtimeEndpoints.length > 1) {
    const {answerNodes} = await import('./answer-nodes.js');
    await answerNodes(
      services,
      form,
      async (node, onMissing) => await answer(node, {words, flags, onMissing}),
    );
    return;
  }
  const onMissing = (error: NotFoundError): void => {
    services.report.setExitCode(EXIT.notDiagnosed);
    services.report.fail(error);
  };
  await printAnswers(services, form, await answer(services, {words, flags, onMissing}));
}

/** Answers about a node, which may be a saved one. */
async function answer(services: RuntimeContext, question: Question): Promise<Answers> {
  if (!(await services.settings.isSaved())) return await answerLive(services, question);
  const {answerSaved} = await import('./saved-node.js');
  return await answerSaved(services, question);
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
  services: RuntimeContext & OutputContext,
  form: OutputFormat<(typeof WHY_FORMATS)[number]>,
  answers: Answers,
): Promise<void> {
  const {out, report} = services;
  const prefix = commandPrefix(services);
  if (form.kind === 'table') out.printText(answersText(answers, prefix));
  else out.printData((await formatSorted(form, answersJson(answers, prefix))).replace(/\n\n$/, '\n'));
  if (areWrong(answers)) report.setExitCode(EXIT.failed);
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
