import type {ChalkInstance} from 'chalk';
import {toJson} from '../../cri/index.js';
import {
  podRef,
  type FieldChange,
  type PlannedCall,
  type PlannedChange,
  type PodPlan,
} from '../../kubelet/index.js';
import {formatPodTitle} from '../pods/pod-title.js';
import {changeKindOf, formatPlanSummary, type PlannedChangeKind} from './plan-summary.js';

/** Options of the plan views. */
export interface PlanViewOptions {
  /** True to show the reason for each call. */
  readonly explain: boolean;
}

/** Returns a plan as data: requests in proto JSON with the names of the .proto file, without zero values. */
export function planData(plans: readonly PodPlan[], {explain}: PlanViewOptions): unknown {
  return plans.map(({pod, note, replaces, calls, files, fields, changes, diffs}) => {
    const {namespace, name, uid} = podRef(pod);
    return {
      namespace,
      pod: name,
      uid,
      ...(note === undefined ? {} : {note}),
      ...(replaces === undefined ? {} : {replaces}),
      ...omitEmptyLists({fields, changes, diffs}),
      calls: calls.map((call) => ({
        method: call.method,
        request: requestJson(call),
        ...(explain ? {why: call.why} : {}),
      })),
      ...omitEmptyLists({files: files.map(({path, mode}) => ({path, mode: octal(mode)}))}),
    };
  });
}

/** Returns the lists that have members. */
export function omitEmptyLists(lists: Readonly<Record<string, readonly unknown[]>>): object {
  return Object.fromEntries(Object.entries(lists).filter(([, list]) => list.length > 0));
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
}

/**
 * Formats a plan as text: a summary, then for each pod its changes with their reasons, the files of its volumes without
 * content, and the numbered calls with their fields.
 */
export function planText(plans: readonly PodPlan[], options: PlanTextOptions): string {
  const shown = options.diff ? plans.filter((plan) => changeKindOf(plan) !== 'none') : plans;
  return [options.chalk.bold(formatPlanSummary(plans)), ...shown.map((plan) => podText(plan, options))].join(
    '\n\n',
  );
}

function podText(plan: PodPlan, options: PlanTextOptions): string {
  const {pod, note, replaces, calls, files} = plan;
  const {chalk, diff} = options;
  const kind = changeKindOf(plan);
  const title = chalk[COLORS[kind]](`pod ${formatPodTitle(podRef(pod))} (uid ${podRef(pod).uid})`);
  const notes = note === undefined ? [] : [`  ${note}`];
  const replaced =
    replaces === undefined ? [] : [`  terminates the existing pod with this name (uid ${replaces}) first`];
  if (kind === 'none') return [`${title}: nothing to do`, ...notes].join('\n');
  const written = files.map(({path, mode}) => `  writes file ${path} with mode ${octal(mode)}`);
  const head = [`${title}: ${kind}`, ...notes, ...replaced, ...changeLines(plan, chalk), ...written];
  if (diff) return head.join('\n');
  const width = String(calls.length).length;
  const lines = calls.flatMap((call, index) => {
    const number = `${String(index + 1).padStart(width)}. `;
    return callLines(call, {...options, number, previous: calls[index - 1]});
  });
  return [...head, ...lines].join('\n');
}

const COLORS = {
  create: 'green',
  replace: 'yellow',
  change: 'yellow',
  stop: 'red',
  none: 'reset',
} as const satisfies Record<PlannedChangeKind, string>;

/** Returns the lines of what changes in a pod, with reasons. */
export function changeLines(
  {fields, changes, diffs}: Pick<PodPlan, 'fields' | 'changes' | 'diffs'>,
  chalk: ChalkInstance,
): readonly string[] {
  return [
    ...(fields.length === 0 ? [] : ['  changed in the manifest:', ...fieldChangeLines(fields, chalk)]),
    ...reasonLines(changes),
    ...diffs.flatMap((diff) => [
      `  ${diff.target} differs from the existing one:`,
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
    if (before === undefined) return chalk.green(`    + ${path}: ${JSON.stringify(after)}`);
    if (after === undefined) return chalk.red(`    - ${path}: ${JSON.stringify(before)}`);
    return chalk.yellow(`    ~ ${path}: ${JSON.stringify(before)} → ${JSON.stringify(after)}`);
  });
}

interface CallOptions extends PlanTextOptions {
  readonly number: string;
  /** Call before this one, whose reason is not repeated. */
  readonly previous: PlannedCall | undefined;
}

function callLines(call: PlannedCall, {chalk, explain, number, previous}: CallOptions): readonly string[] {
  const indent = ' '.repeat(number.length + 2);
  const fields = fieldLines('', requestJson(call)).filter(([path]) => !REPEATED.test(path));
  const sameSandbox = call.method === 'CreateContainer' || call.method === 'PullImage';
  const {text, rule} = call.why;
  const why = text === previous?.why.text ? 'as above' : text;
  return [
    `  ${number}${chalk.bold(call.method)}`,
    ...(explain ? [`${indent}${chalk.dim(`# ${why} (${rule})`)}`] : []),
    ...fields.map(([path, value]) => `${indent}${path}: ${value}`),
    ...(sameSandbox ? [`${indent}sandbox_config: as RunPodSandbox`] : []),
  ];
}

/** Path of the sandbox config, which is part of several requests and shown once. */
const REPEATED = /^sandbox_config[.[]/;

/** Returns all leaves of a request with their paths; lists of scalars are one leaf. */
function fieldLines(path: string, value: unknown): readonly (readonly [string, string])[] {
  if (Array.isArray(value)) {
    if (value.every((item) => typeof item !== 'object')) return [[path, JSON.stringify(value)]];
    return value.flatMap((item, index) => fieldLines(`${path}[${index}]`, item));
  }
  if (typeof value !== 'object' || value === null) return [[path, String(value)]];
  const entries = Object.entries(value);
  if (entries.length === 0) return [[path, '{}']];
  return entries.flatMap(([key, item]) => fieldLines(path === '' ? key : join(path, key), item));
}

/** Appends a key to a path; keys of labels and annotations can contain dots. */
function join(path: string, key: string): string {
  return /^[\w-]+$/.test(key) ? `${path}.${key}` : `${path}[${key}]`;
}
