import type {ManifestIssue} from '../../api/manifest-issue.js';
import {renderIssue} from '../../api/manifest-issue.js';
import {KcriError, messageOf, UsageError} from '../../base/errors.js';
import {decodeConfig, type DecodedConfig} from './decode.js';
import {parseDuration} from '../../format/duration.js';
import {shownUrl} from '../../format/shown-url.js';
import {CONFIG_FIELDS, CONFIG_PATHS, type ConfigPath, type ConfigValues} from './fields.js';
import {conflictsIn} from './conflicts.js';

/** A configuration that can't be used; the message shows each fault with its place. */
export class KubeletConfigError extends KcriError {
  readonly code = 'KUBELET_CONFIG';

  constructor(faults: readonly string[]) {
    super(faults.join('\n'), {hint: 'docs/kubelet-config.md lists all fields'});
  }
}

/** A file of a KubeletConfiguration; later ones win. */
export interface ConfigFileText {
  readonly path: string;
  readonly content: string;
}

/** What is set without effect, and why. */
interface Ineffective {
  readonly field: string;
  readonly reason: string;
}

/** What a kubelet runs with. */
export interface KubeletConfig {
  readonly values: ConfigValues;
  /** What somebody said that has no effect, and why; for the log at the start. */
  readonly unsupported: readonly Ineffective[];
  readonly ignored: readonly Ineffective[];
}

/**
 * What files and flags say together: a flag before a file, a later file before an earlier one, before the default
 * (server.go NewKubeletCommand). Throws KubeletConfigError with everything that is wrong.
 */
export function readKubeletConfig(
  files: readonly ConfigFileText[],
  flags: ReadonlyMap<string, readonly string[]>,
): KubeletConfig {
  const decoded = files.map(({path, content}) => decodeConfig(content, path));
  const issues = decoded.flatMap((file) => file.issues);
  if (issues.length > 0) throw new KubeletConfigError(issues.map(renderIssue));
  const settings = CONFIG_PATHS.flatMap((path) => settingOf(path, decoded, flags));
  const values = Object.fromEntries([
    ...CONFIG_PATHS.map((path) => [path, CONFIG_FIELDS[path].default]),
    ...settings.map(({path, value}) => [path, value]),
  ]) as unknown as ConfigValues;
  const faults = [
    ...settings.flatMap(faultsOf),
    ...conflictsIn(values).map((text) => `invalid configuration: ${text}`),
  ];
  if (faults.length > 0) throw new KubeletConfigError(faults);
  return {
    values,
    unsupported: [...without(settings, 'not supported'), ...unknownGates(values.featureGates)],
    ignored: without(settings, 'ignored'),
  };
}

/** A field that somebody has set. */
interface Setting {
  readonly path: ConfigPath;
  readonly value: unknown;
  /** Where, when that is a file. */
  readonly issue?: (message: string) => ManifestIssue;
}

function settingOf(
  path: ConfigPath,
  decoded: readonly DecodedConfig[],
  flags: ReadonlyMap<string, readonly string[]>,
): readonly Setting[] {
  const {flag, type} = CONFIG_FIELDS[path];
  const texts = flag === undefined ? undefined : flags.get(flag);
  const given = decoded.flatMap(({given}) => given.get(path) ?? []);
  const inFiles = given.reduce<unknown>((merged, {value}) => merge(merged, value), undefined);
  if (texts !== undefined) {
    const value = fromFlag(flag ?? '', () => type.fromFlags(texts));
    // Gates are merged, everything else that a flag says replaces what files say (parseFlagsAgain).
    return [{path, value: path === 'featureGates' ? merge(inFiles, value) : value}];
  }
  const last = given.at(-1);
  return last === undefined ? [] : [{path, value: inFiles, issue: last.issue}];
}

function fromFlag(flag: string, read: () => unknown): unknown {
  try {
    return read();
  } catch (error) {
    throw new UsageError(`invalid argument for "--${flag}" flag: ${messageOf(error)}`, {cause: error});
  }
}

/** As a JSON merge patch: objects grow together, anything else is replaced. */
function merge(before: unknown, after: unknown): unknown {
  if (!isObject(before) || !isObject(after)) return after;
  const entries = Object.entries(after).map(([key, value]) => [key, merge(before[key], value)]);
  return {...before, ...(Object.fromEntries(entries) as object)};
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function faultsOf({path, value, issue}: Setting): readonly string[] {
  const {type, check, flag} = CONFIG_FIELDS[path];
  const wrong = type.problem?.(value);
  const problem = wrong ?? check?.(value);
  if (problem === undefined) return [];
  const name = flag === undefined ? path : `${path} (--${flag})`;
  const message =
    wrong === undefined
      ? `invalid configuration: ${name} ${problem}`
      : `${path}: Invalid value: ${JSON.stringify(value)}: ${problem}`;
  return [issue === undefined ? message : renderIssue(issue(message))];
}

/** The gates that kcri has. */
const GATES: ReadonlySet<string> = new Set(['ComponentFlagz', 'ComponentStatusz', 'EventedPLEG']);

function unknownGates(gates: Readonly<Record<string, boolean>>): readonly Ineffective[] {
  return Object.keys(gates)
    .filter((name) => !GATES.has(name))
    .map((name) => ({
      field: `featureGates.${name}`,
      reason: `kcri has the gates ${[...GATES].join(', ')}; of others the defaults of Kubernetes 1.36 hold`,
    }));
}

/** What is set to something else than what holds anyway. */
function without(settings: readonly Setting[], kind: 'ignored' | 'not supported'): readonly Ineffective[] {
  return settings.flatMap(({path, value}) => {
    const {use, default: fallback} = CONFIG_FIELDS[path];
    if (use.kind !== kind || isSame(value, fallback)) return [];
    return [{field: path, reason: use.reason}];
  });
}

function isSame(value: unknown, fallback: unknown): boolean {
  if (typeof value === 'string' && typeof fallback === 'string') {
    const [one, other] = [parseDuration(value), parseDuration(fallback)];
    if (one !== undefined && one === other) return true;
  }
  return JSON.stringify(value) === JSON.stringify(fallback);
}

/** The milliseconds of a duration in a configuration, which has been checked. */
export function milliseconds(duration: string): number {
  return Number(parseDuration(duration) ?? 0n) / 1e6;
}

/** Without what lets kcri in elsewhere, as a kubelet's log has it. */
function withoutSecrets(values: ConfigValues): ConfigValues {
  const {staticPodURL: url, staticPodURLHeader: headers} = values;
  return {
    ...values,
    staticPodURL: url === '' ? url : shownUrl(new URL(url)),
    staticPodURLHeader: Object.fromEntries(Object.keys(headers).map((name) => [name, ['<masked>']])),
  };
}

/** The configuration as a KubeletConfiguration, which /configz shows. */
export function asKubeletConfiguration(values: ConfigValues): Readonly<Record<string, unknown>> {
  const root: Record<string, unknown> = {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
  };
  const shown = withoutSecrets(values);
  for (const path of CONFIG_PATHS) {
    const value = shown[path];
    if (value === undefined) continue;
    const names = path.split('.');
    let at = root;
    for (const name of names.slice(0, -1)) at = (at[name] ??= {}) as Record<string, unknown>;
    at[names.at(-1) ?? ''] = value;
  }
  return root;
}
