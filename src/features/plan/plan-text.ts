import type {ChalkInstance} from 'chalk';
import {toBinaryQuantity} from '../../api/quantity.js';
import {toJson} from '../../cri/index.js';
import {
  explainCallFields,
  podRef,
  targetOf,
  type ExplainedField,
  type FieldChange,
  type PlannedCall,
  type PlannedChange,
  type PodPlan,
} from '../../kubelet/index.js';
import {escapeToLine} from '../../format/escape-controls.js';
import type {Json} from '../../format/json.js';
import {counted} from '../../base/counted.js';
import {omit} from '../../base/omit.js';
import {explainedYaml, explanationData, messageLines} from './explained-fields.js';
import {formatPodTitle} from '../pods/pod-title.js';
import {changeKindOf, formatPlanSummary, type PlannedChangeKind} from './plan-summary.js';

/** Options of the plan views. */
export interface PlanViewOptions {
  /** True to show the reason for each call. */
  readonly explain: boolean;
}

interface PlanData {
  readonly calls: readonly object[];
}

/** Returns a plan as data: requests in proto JSON with the names of the .proto file, without zero values. */
export function planData(plans: readonly PodPlan[], {explain}: PlanViewOptions): readonly PlanData[] {
  return plans.map(({pod, note, replaces, calls, files, resizes, fields, changes, diffs}) => {
    const {namespace, name, uid} = podRef(pod);
    return {
      namespace,
      pod: name,
      uid,
      ...(note === undefined ? {} : {note}),
      ...(replaces === undefined ? {} : {replaces}),
      ...omitEmptyLists({fields, changes, resizes, diffs}),
      calls: calls.map((call) => ({
        method: call.method,
        request: requestJson(call),
        ...(explain ? {why: call.why, explanations: explanationData(explainedFields(call))} : {}),
      })),
      ...omitEmptyLists({files: files.map(({path, mode}) => ({path, mode: octal(mode)}))}),
    };
  });
}

/** Returns the lists that have members. */
export function omitEmptyLists(lists: Readonly<Record<string, readonly unknown[]>>): object {
  return Object.fromEntries(Object.entries(lists).filter(([, list]) => list.length > 0));
}

/** Returns a plan as YAML. Explanations are comments. */
export async function planYaml(plans: readonly PodPlan[], options: PlanViewOptions): Promise<string> {
  const data = planData(plans, options).map((plan) => ({
    ...plan,
    calls: plan.calls.map((call) => omit(call as Record<string, unknown>, 'explanations')),
  }));
  const parts = plans.flatMap(({calls}, pod) =>
    calls.map((call, index) => ({
      at: [pod, 'calls', index, 'request'],
      fields: options.explain ? explainedFields(call) : [],
    })),
  );
  return await explainedYaml(data, parts);
}

/** Returns the inputs of the fields of a call. */
function explainedFields(call: PlannedCall): readonly ExplainedField[] {
  const {method, container, facts} = call;
  return explainCallFields({method, container, request: ownRequest(call)}, facts);
}

/** Returns a request without the sandbox config, which is part of several requests and explained once. */
function ownRequest(call: PlannedCall): Json {
  return omit(requestJson(call), 'sandbox_config');
}

type JsonObject = ReturnType<typeof toJson>;

/** Returns a request as JSON, with environment values as text; they are bytes in the .proto file. */
function requestJson({requestType, request}: PlannedCall): JsonObject {
  const json = toJson(requestType, request, {names: 'proto'});
  const config = json['config'] as
    | {readonly envs?: readonly {readonly key: string; readonly value?: string}[]}
    | undefined;
  if (config?.envs === undefined) return json;
  const envs = config.envs.map(({key, value = ''}) => ({
    key,
    value: Buffer.from(value, 'base64').toString(),
  }));
  return {...json, config: {...config, envs}};
}

/** Formats a file mode as octal: `0644`. */
function octal(mode: number): string {
  return mode.toString(8).padStart(4, '0');
}

/** Options of planText. */
export interface PlanTextOptions extends PlanViewOptions {
  readonly chalk: ChalkInstance;
  /** True to show only what changes, without calls and unchanged pods. */
  readonly diff: boolean;
  /** True to show the calls for equal sandboxes and containers of a changed pod too. */
  readonly all: boolean;
}

/**
 * Formats a plan as text: a summary, then for each pod its changes with their reasons, the files of its volumes without
 * content, and the numbered calls with their fields.
 */
export function planText(plans: readonly PodPlan[], options: PlanTextOptions): string {
  const isShown = (plan: PodPlan): boolean => changeKindOf(plan) !== 'none' || plan.resizes.length > 0;
  const shown = options.diff ? plans.filter(isShown) : plans;
  return [options.chalk.bold(formatPlanSummary(plans)), ...shown.map((plan) => podText(plan, options))].join(
    '\n\n',
  );
}

function podText(plan: PodPlan, options: PlanTextOptions): string {
  const {pod, note, replaces, files} = plan;
  const {chalk} = options;
  const kind = changeKindOf(plan);
  const title = chalk[COLORS[kind]](
    escapeToLine(`pod ${formatPodTitle(podRef(pod))} (uid ${podRef(pod).uid})`),
  );
  const notes = note === undefined ? [] : [escapeToLine(`  ${note}`)];
  const replaced =
    replaces === undefined
      ? []
      : [escapeToLine(`  terminates the existing pod with this name (uid ${replaces}) first`)];
  const resized = plan.resizes.map((resize) => chalk.yellow(escapeToLine(`  ${resizeText(resize)}`)));
  if (kind === 'none') return [`${title}: nothing to do`, ...notes, ...resized].join('\n');
  const written = files.map(({path, mode}) => escapeToLine(`  writes file ${path} with mode ${octal(mode)}`));
  const head = [
    `${title}: ${kind}`,
    ...notes,
    ...replaced,
    ...changeLines(plan, chalk),
    ...resized,
    ...written,
  ];
  return [...head, ...numberedCalls(plan, options)].join('\n');
}

function resizeText({claim, volume, size, requested, refusal}: PodPlan['resizes'][number]): string {
  const from = toBinaryQuantity(size);
  if (requested === undefined) return `the claim ${claim} of the volume ${volume} stays as it is: ${refusal}`;
  return refusal === undefined
    ? `enlarges the volume ${volume} of the claim ${claim} from ${from} to ${toBinaryQuantity(requested)}`
    : `the volume ${volume} of the claim ${claim} keeps its ${from}: ${refusal}`;
}

/** Returns the lines of the calls that are shown, and how many are not. Calls keep the numbers that they have among all. */
function numberedCalls(plan: PodPlan, options: PlanTextOptions): readonly string[] {
  const {calls} = plan;
  if (options.diff) return [];
  const width = String(calls.length).length;
  const isShown = ({container}: PlannedCall): boolean =>
    options.all || !plan.equal.includes(targetOf(container));
  const lines = calls.flatMap((call, index) => {
    const number = `${String(index + 1).padStart(width)}. `;
    return isShown(call) ? callLines(call, {...options, number, previous: calls[index - 1]}) : [];
  });
  const hidden = calls.filter((call) => !isShown(call)).length;
  if (hidden === 0) return lines;
  return [
    ...lines,
    `  ${counted(hidden, 'call')} for what is created again with an equal config: --all shows them`,
  ];
}

const COLORS = {
  create: 'green',
  replace: 'yellow',
  change: 'yellow',
  stop: 'red',
  wait: 'yellow',
  none: 'reset',
} as const satisfies Record<PlannedChangeKind, string>;

/** Returns the lines of what changes in a pod, with reasons. */
export function changeLines(
  {fields, changes, diffs}: Pick<PodPlan, 'fields' | 'changes' | 'diffs'>,
  chalk: ChalkInstance,
): readonly string[] {
  return [
    ...(fields.length === 0 ? [] : ['  changed in the manifest:', ...fieldChangeLines(fields, chalk)]),
    ...reasonLines(changes).map(escapeToLine),
    ...diffs.flatMap((diff) => [
      escapeToLine(`  ${diff.target} differs from the existing one:`),
      ...fieldChangeLines(diff.changes, chalk),
    ]),
  ];
}

/** Returns the changes by reason, each reason once. */
function reasonLines(changes: readonly PlannedChange[]): readonly string[] {
  const byReason = new Map<string, PlannedChange[]>();
  for (const change of changes) byReason.set(change.why, [...(byReason.get(change.why) ?? []), change]);
  return [...byReason].flatMap(([why, [first, ...others]]) => {
    const textOf = ({target, actions}: PlannedChange, reason: string): string =>
      `${target}: ${reason}${actions.join(', ')}`;
    if (first === undefined) return [];
    if (others.length === 0) return [`  ${textOf(first, `${why} → `)}`];
    return [`  ${why}:`, ...[first, ...others].map((change) => `    ${textOf(change, '')}`)];
  });
}

function fieldChangeLines(changes: readonly FieldChange[], chalk: ChalkInstance): readonly string[] {
  return changes.map(({path, before, after}) => {
    if (before === undefined) return chalk.green(escapeToLine(`    + ${path}: ${JSON.stringify(after)}`));
    if (after === undefined) return chalk.red(escapeToLine(`    - ${path}: ${JSON.stringify(before)}`));
    return chalk.yellow(escapeToLine(`    ~ ${path}: ${JSON.stringify(before)} → ${JSON.stringify(after)}`));
  });
}

interface CallOptions extends PlanTextOptions {
  readonly number: string;
  /** Call before this one, whose reason is not repeated. */
  readonly previous: PlannedCall | undefined;
}

function callLines(call: PlannedCall, {chalk, explain, number, previous}: CallOptions): readonly string[] {
  const indent = ' '.repeat(number.length + 2);
  const own = ownRequest(call);
  const fields = messageLines(own, explain ? explainedFields(call) : [], chalk);
  const sameSandbox = call.method === 'CreateContainer' || call.method === 'PullImage';
  const {text, rule} = call.why;
  const why = text === previous?.why.text ? 'as above' : text;
  return [
    `  ${number}${chalk.bold(call.method)}`,
    ...(explain ? [`${indent}${chalk.dim(escapeToLine(`# ${why} (${rule})`))}`] : []),
    ...fields.map((field) => `${indent}${field}`),
    ...(sameSandbox ? [`${indent}sandbox_config: as RunPodSandbox`] : []),
  ];
}
