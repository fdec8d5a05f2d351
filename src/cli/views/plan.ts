import {toJson} from '../../cri/index.js';
import {podRef, type FieldChange, type PlannedCall, type PodPlan} from '../../kubelet/index.js';
import {podTitle} from '../sync-view/text.js';

/** What of a plan is shown. */
export interface PlanViewOptions {
  /** With the reason for each call. */
  readonly explain: boolean;
}

/** A plan as data: the requests in proto JSON with the names of the .proto, zero values left out. */
export function planData(plans: readonly PodPlan[], {explain}: PlanViewOptions): unknown {
  return plans.map(({pod, replaces, calls, files, fields, changes, diffs}) => {
    const {namespace, name, uid} = podRef(pod);
    return {
      namespace,
      pod: name,
      uid,
      ...(replaces === undefined ? {} : {replaces}),
      ...unlessEmpty({fields, changes, diffs}),
      calls: calls.map((call) => ({
        method: call.method,
        request: requestJson(call),
        ...(explain ? {why: call.why} : {}),
      })),
      ...unlessEmpty({files: files.map(({path, mode}) => ({path, mode: octal(mode)}))}),
    };
  });
}

function unlessEmpty(lists: Readonly<Record<string, readonly unknown[]>>): object {
  return Object.fromEntries(Object.entries(lists).filter(([, list]) => list.length > 0));
}

type JsonObject = ReturnType<typeof toJson>;

/** Env values are bytes on the wire and text to people. */
function requestJson({requestType, request}: PlannedCall): JsonObject {
  const json = toJson(requestType, request, {names: 'proto'});
  const config = json['config'] as
    {readonly envs?: readonly {readonly key: string; readonly value?: string}[]} | undefined;
  if (config?.envs === undefined) return json;
  const envs = config.envs.map(({key, value = ''}) => ({
    key,
    value: Buffer.from(value, 'base64').toString(),
  }));
  return {...json, config: {...config, envs}};
}

/** `0644`. */
function octal(mode: number): string {
  return mode.toString(8).padStart(4, '0');
}

/**
 * A plan to read: what would change of a pod that is there and why, the calls of each pod, numbered, with their fields
 * below, and the files of its volumes without their content.
 */
export function planText(plans: readonly PodPlan[], options: PlanViewOptions): string {
  return plans.map((plan) => podText(plan, options)).join('\n\n');
}

function podText(plan: PodPlan, options: PlanViewOptions): string {
  const {pod, replaces, calls, files} = plan;
  const title = `pod ${podTitle(podRef(pod))} (uid ${podRef(pod).uid})`;
  const ended =
    replaces === undefined ? [] : [`  the older pod of that name (uid ${replaces}) is ended first`];
  const written = files.map(({path, mode}) => `  file ${path} with mode ${octal(mode)} is written`);
  if (calls.length === 0 && files.length === 0) return [`${title}: nothing to do`, ...ended].join('\n');
  const width = String(calls.length).length;
  const lines = calls.flatMap((call, index) =>
    callLines(call, `${String(index + 1).padStart(width)}. `, options),
  );
  return [title, ...ended, ...changeLines(plan), ...written, ...lines].join('\n');
}

function changeLines({fields, changes, diffs}: PodPlan): readonly string[] {
  return [
    ...(fields.length === 0 ? [] : ['  changed in the manifest:', ...fieldChangeLines(fields)]),
    ...changes.map(({target, why, actions}) => `  ${target}: ${why} → ${actions.join(', ')}`),
    ...diffs.flatMap((diff) => [
      `  ${diff.target} is made otherwise than the one that is there:`,
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

/** The sandbox's config goes along with every container; it is shown once. */
const REPEATED = /^sandbox_config[.[]/;

/** Every leaf of the request with its path; lists of plain values stay on one line. */
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

/** Labels and annotations have dots in their keys. */
function join(path: string, key: string): string {
  return /^[\w-]+$/.test(key) ? `${path}.${key}` : `${path}[${key}]`;
}
