import {UsageError} from '../../base/errors.js';
import type {JsonObject} from '../../format/json.js';
import {logTime} from '../../operations/logs/log-selection.js';
import {parseSince} from '../../operations/logs/parse-since.js';
import type {DialectContext, NameContext, OutputContext, RuntimeContext} from '../../cli/command/contexts.js';
import type {PodSelectionFlagValues} from '../pods/pod-selection-flags.js';
import type {OutputFlagValues} from '../../cli/output/output-format.js';
import {formatSorted, parseOutputFormat, type OutputFormat} from '../../cli/output/parse-output-format.js';
import {readTargets, type TargetFlagValues} from '../targets/read-targets.js';
import {targetTitle, type LifecycleTarget} from '../targets/find-targets.js';
import {checkContainerCondition} from './judge-readiness.js';
import {parseWaitCondition, type WaitCondition} from './wait-condition.js';
import {waitForCreation} from './wait-for-creation.js';
import {waitForTargets, type WaitResult} from './wait-for-targets.js';
import {areWorkloads, waitForWorkloads, type WaitForWorkloadsOptions} from './wait-for-workloads.js';
import {workloadObject, workloadTitle, type WorkloadSummary} from '../workloads/compute-workloads.js';
import {isWorkloadCondition} from './judge-workload.js';

/** Output formats of `wait`. */
export const WAIT_FORMATS = ['table', 'json', 'yaml'] as const;

/** Values of the flags of `wait`. */
export interface WaitFlags extends TargetFlagValues, PodSelectionFlagValues, OutputFlagValues {
  readonly for?: string | undefined;
  /** In ms; negative for no limit. */
  readonly timeout: number;
  readonly since?: string | undefined;
  readonly 'exit-code': boolean;
  readonly all: boolean;
}

/** Waits for the named pods and containers, and prints those that meet the condition. Rejects with KcriError. */
export async function runWait(
  services: RuntimeContext & DialectContext & NameContext & OutputContext,
  words: readonly string[],
  flags: WaitFlags,
): Promise<void> {
  const {context, out, report} = services;
  const condition = await parseFor(flags);
  const since = flags.since === undefined ? undefined : logTime(parseSince(flags.since, context.clock.now()));
  const form = await parseOutputFormat(flags, WAIT_FORMATS, services);
  const timeoutMs = flags.timeout < 0 ? undefined : flags.timeout;
  if (condition.kind === 'condition' && isWorkloadCondition(condition) && areWorkloads(words)) {
    await waitForWorkloadCondition(services, words, {condition, flags, timeoutMs, form});
    return;
  }
  const {reader, targets} =
    condition.kind === 'create'
      ? await waitForCreation(services, words, flags, timeoutMs)
      : await readTargets(services, words, flags, {
          acceptsAll: flags.all,
          onMissing: (error) => {
            // An object that does not exist any more is deleted, as in kubectl.
            if (condition.kind === 'delete') report.info(`kcri: ${error.message}`);
            else report.fail(error);
          },
        });
  checkTargets(condition, targets);
  const results = new Map<LifecycleTarget, WaitResult>();
  await waitForTargets(services, reader, targets, {
    condition,
    timeoutMs,
    since,
    onMet: (result) => {
      results.set(result.target, result);
      if (form.kind === 'table' && condition.kind !== 'exit') out.printText(`${resultText(result)}\n`);
    },
  });
  const inOrder = targets.flatMap((target) => results.get(target) ?? []);
  const codes = inOrder.flatMap(({exitCodes = []}) => exitCodes);
  if (form.kind !== 'table') out.printData(await formatResults(form, inOrder));
  else if (condition.kind === 'exit') out.printAll(codes, (code) => `${code}\n`);
  const failed = codes.find((code) => code !== 0);
  if (flags['exit-code'] && failed !== undefined) report.setExitCode(failed);
}

type WaitForm = OutputFormat<(typeof WAIT_FORMATS)[number]>;

/** Waits for a condition of workloads, and prints those that meet it, as kubectl names them. */
async function waitForWorkloadCondition(
  services: RuntimeContext & OutputContext,
  words: readonly string[],
  {form, ...options}: Omit<WaitForWorkloadsOptions, 'onMet'> & {readonly form: WaitForm},
): Promise<void> {
  const items: JsonObject[] = [];
  const onMet = (workload: WorkloadSummary): void => {
    items.push(workloadObject(workload));
    if (form.kind === 'table') services.out.printText(`${workloadTitle(workload)} condition met\n`);
  };
  await waitForWorkloads(services, words, {...options, onMet});
  if (form.kind !== 'table')
    services.out.printData((await formatSorted(form, {items})).replace(/\n\n$/, '\n'));
}

async function parseFor(flags: WaitFlags): Promise<WaitCondition> {
  if (flags.for === undefined)
    throw new UsageError('--for is required', {
      hint: 'use --for=condition=Ready, exit, log=REGEX, create or delete',
    });
  const condition = await parseWaitCondition(flags.for);
  if (flags['exit-code'] && condition.kind !== 'exit')
    throw new UsageError('--exit-code requires --for=exit');
  if (flags.since !== undefined && condition.kind !== 'log')
    throw new UsageError('--since requires --for=log=REGEX');
  return condition;
}

/** Throws UsageError for a condition that containers do not have. */
function checkTargets(condition: WaitCondition, targets: readonly LifecycleTarget[]): void {
  const container = targets.find(({kind}) => kind === 'container');
  if (container === undefined) return;
  if (condition.kind === 'condition') checkContainerCondition(condition);
  if (condition.kind === 'jsonpath')
    throw new UsageError(`"${targetTitle(container)}" is a container, and jsonpath conditions are for pods`);
}

function resultText({target, line}: WaitResult): string {
  if (line !== undefined) return line;
  const {name} = target.listed;
  return `${target.kind}/${target.kind === 'pod' ? name : `${name}/${target.name}`} condition met`;
}

async function formatResults(
  form: Exclude<WaitForm, {kind: 'table'}>,
  results: readonly WaitResult[],
): Promise<string> {
  const items = results.map(({target, exitCodes, line}): JsonObject => {
    const {namespace, name, uid} = target.listed;
    return {
      namespace,
      pod: name,
      uid,
      ...(target.kind === 'container' && {
        container: target.name,
        ...(target.id !== undefined && {id: target.id}),
      }),
      ...(exitCodes !== undefined && {exitCodes: [...exitCodes]}),
      ...(line !== undefined && {line}),
    };
  });
  return (await formatSorted(form, {items})).replace(/\n\n$/, '\n');
}
