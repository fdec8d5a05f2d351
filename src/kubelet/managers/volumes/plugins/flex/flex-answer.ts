import {isObject} from '../../../../../base/is-object.js';
import {describeJsonProblem} from '../../../../resources/checkpoint/go-json-syntax.js';

/** Capabilities of a driver (DriverCapabilities). */
export interface FlexCapabilities {
  /** True if volumes are attached to the node and mounted for all pods before they are mounted for one. */
  readonly attach: boolean;
  /** True if the SELinux labels of files may change. */
  readonly selinuxRelabel: boolean;
  /** True if volumes have file systems of their own, whose usage is that of the volume. */
  readonly supportsMetrics: boolean;
  /** True if files get the fsGroup of pods. */
  readonly fsGroup: boolean;
  /** True if volumes that were enlarged are also enlarged on the node. */
  readonly requiresFSResize: boolean;
}

/** Capabilities that a driver has unless it says otherwise (defaultCapabilities). */
const DEFAULTS: FlexCapabilities = {
  ...{attach: true, selinuxRelabel: true, supportsMetrics: false, fsGroup: true, requiresFSResize: true},
};

/** Answer of a driver to a call that succeeded. */
export interface FlexSuccess {
  /** Path of the device of an attached volume; empty for none. */
  readonly device: string;
  readonly capabilities: FlexCapabilities;
}

/** Answer of a driver. */
export type FlexAnswer =
  | ({readonly kind: 'success'} & FlexSuccess)
  | {readonly kind: 'unsupported'}
  | {readonly kind: 'failure'; readonly message: string}
  /** The driver did not answer in JSON, or with other types than it must. */
  | {readonly kind: 'invalid'; readonly message: string};

/** Returns the answer that is the output of a driver's call (handleCmdResponse). Pure. */
export function parseFlexAnswer(command: string, output: string): FlexAnswer {
  let answer: unknown;
  try {
    answer = JSON.parse(output);
  } catch {
    return {kind: 'invalid', message: describeJsonProblem(output)};
  }
  if (!isObject(answer)) return {kind: 'invalid', message: 'the answer is not an object'};
  const fields = withLowerCaseNames(answer);
  const wrong = ['status', 'message', 'device'].find((name) => typeof (fields[name] ?? '') !== 'string');
  if (wrong !== undefined) return {kind: 'invalid', message: `the field ${wrong} of the answer is not text`};
  const {status, message, device} = fields as Readonly<Record<string, string | null | undefined>>;
  if (status === 'Not supported') return {kind: 'unsupported'};
  if (status !== 'Success')
    return {
      kind: 'failure',
      message: `${command} command failed, status: ${status ?? ''}, reason: ${message ?? ''}`,
    };
  const capabilities = parseCapabilities(fields['capabilities'] ?? {});
  if (capabilities === undefined)
    return {kind: 'invalid', message: 'the capabilities of the answer are not true or false'};
  return {kind: 'success', device: device ?? '', capabilities};
}

function parseCapabilities(value: unknown): FlexCapabilities | undefined {
  if (!isObject(value)) return undefined;
  const fields = withLowerCaseNames(value);
  const given = Object.keys(DEFAULTS).flatMap((name) => {
    const flag = fields[name.toLowerCase()] ?? undefined;
    return flag === undefined ? [] : [[name, flag] as const];
  });
  if (given.some(([, flag]) => typeof flag !== 'boolean')) return undefined;
  return {...DEFAULTS, ...(Object.fromEntries(given) as Partial<FlexCapabilities>)};
}

/** Go does not distinguish the case of names. */
function withLowerCaseNames(value: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name.toLowerCase(), field]));
}
