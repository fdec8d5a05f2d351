import {toJson} from '../../../cri/index.js';
import {podRef, type FieldChange, type PlannedCall, type PodPlan} from '../../../kubelet/index.js';
import {formatPodTitle} from '../../sync/view/sync-text.js';

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

function omitEmptyLists(lists: Readonly<Record<string, readonly unknown[]>>): object {
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

/**
 * Formats a plan as text: changes of existing pods with their reasons, the files of their volumes without content, and
 * the numbered calls with their fields.
 */
export function planText(plans: readonly PodPlan[], options: PlanViewOptions): string {
  return plans.map((plan) => podText(plan, options)).join('\n\n');
}

function podText(plan: PodPlan, options: PlanViewOptions): string {
  const {pod, note, replaces, calls, files} = plan;
  const title = `pod ${formatPodTitle(podRef(pod))} (uid ${podRef(pod).uid})`;
  const notes = note === undefined ? [] : [`  ${note}`];
  const replaced =
    replaces === undefined ? [] : [`  terminates the existing pod with this name (uid ${replaces}) first`];
  const written = files.map(({path, mode}) => `  writes file ${path} with mode ${octal(mode)}`);
  if (calls.length === 0 && files.length === 0)
    return [`${title}: nothing to do`, ...notes, ...replaced].join('\n');
  const width = String(calls.length).length;
  const lines = calls.flatMap((call, index) =>
    callLines(call, `${String(index + 1).padStart(width)}. `, options),
  );
  return [title, ...notes, ...replaced, ...changeLines(plan), ...written, ...lines].join('\n');
}

function changeLines({fields, changes, diffs}: PodPlan): readonly string[] {
  return [
    ...(fields.length === 0 ? [] : ['  changed in the manifest:', ...fieldChangeLines(fields)]),
    ...changes.map(({target, why, actions}) => `  ${target}: ${why} → ${actions.join(', ')}`),
    ...diffs.flatMap((diff) => [
      `  ${diff.target} differs from the existing one:`,
      ...fieldChangeLines(diff.changes),
    ]),
  ];
}

function fieldChangeLines(changes: readonly FieldChange[]): readonly string[] {
  return changes.map(({path, before, after}) => {
    if (before === undefined) return `    + ${path}: ${JSON.stringify(after)}`;
    if (after === undefined) return `    - ${path}: ${JSON.stringify(before)}`;
    return `    ~ ${path}: ${JSON.stringify(before)} → ${JSON.stringify(after)}`;
  });
}

function callLines(call: PlannedCall, number: string, {explain}: PlanViewOptions): readonly string[] {
  const indent = ' '.repeat(number.length + 2);
  const fields = fieldLines('', requestJson(call)).filter(([path]) => !REPEATED.test(path));
  const sameSandbox = call.method === 'CreateContainer' || call.method === 'PullImage';
  return [
    `  ${number}${call.method}`,
    ...(explain ? [`${indent}# ${call.why.text} (${call.why.rule})`] : []),
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
