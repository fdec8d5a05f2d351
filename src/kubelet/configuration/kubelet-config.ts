import type {ManifestIssue} from '../../api/decoding/manifest-issue.js';
import {renderIssue} from '../../api/decoding/manifest-issue.js';
import {LONGEST_TIMER_MS} from '../../base/clock.js';
import {KcriError, messageOf, UsageError} from '../../base/errors.js';
import {isObject} from '../../base/is-object.js';
import {fieldIn, type ConfigField, type FieldUse} from './config-field.js';
import {decodeKubeletConfig, type DecodedKubeletConfig} from './decode-kubelet-config.js';
import {parseDuration} from '../../format/duration.js';
import {
  CONFIG_FIELDS,
  CONFIG_PATHS,
  type ConfigPath,
  type ConfigValues,
} from './fields-and-defaults/kubelet-config-defaults.js';
import {FEATURE_GATES} from './feature-gates.js';
import {findFieldConflicts} from './field-conflicts.js';

/** The configuration is invalid. The message has a line with the position for each problem. */
export class KubeletConfigError extends KcriError {
  readonly code = 'KUBELET_CONFIG';

  constructor(problems: readonly string[]) {
    super(problems.join('\n'), {hint: 'see docs/kubelet-config.md for all fields'});
  }
}

/** Path and text of a configuration file. */
export interface ConfigFileText {
  readonly path: string;
  readonly content: string;
}

/** A field that is set but has no effect, and the reason. */
interface IneffectiveField {
  readonly field: string;
  readonly reason: string;
}

/** Configuration of a kubelet. */
export interface KubeletConfig {
  readonly values: ConfigValues;
  /** True with an API server. */
  readonly joinsCluster: boolean;
  /** Fields that are set but have no effect, for the log at the start. */
  readonly unsupported: readonly IneffectiveField[];
  readonly ignored: readonly IneffectiveField[];
}

/** Options of readKubeletConfig: the defaults, and the treatment of unknown fields. */
export interface ReadConfigOptions {
  /** True with an API server, with which some defaults differ. */
  readonly joinsCluster?: boolean;
  /** Defaults that are preferred to kcri's. */
  readonly defaults?: Partial<ConfigValues>;
  /** True if unknown fields have no effect, as in a kubelet; otherwise they are errors. */
  readonly isLenient?: boolean;
}

/**
 * Combines files, flags and defaults: flags override files, and later files override earlier ones (server.go
 * NewKubeletCommand). Throws KubeletConfigError with all problems, and UsageError for an invalid flag.
 */
export function readKubeletConfig(
  files: readonly ConfigFileText[],
  flags: ReadonlyMap<string, readonly string[]>,
  {joinsCluster = false, defaults = {}, isLenient = false}: ReadConfigOptions = {},
): KubeletConfig {
  const decoded = files.map(({path, content}) => decodeKubeletConfig(content, path));
  const unknown = decoded.flatMap((file) => [...file.unknown]);
  const issues = decoded.flatMap((file) => file.issues);
  if (!isLenient) issues.push(...unknown.map(([, issue]) => issue));
  if (issues.length > 0) throw new KubeletConfigError(issues.map(renderIssue));
  const settings = CONFIG_PATHS.flatMap((path) => settingOf(path, decoded, flags));
  const values = Object.fromEntries([
    ...CONFIG_PATHS.map((path) => [path, defaults[path] ?? defaultOf(path, settings, joinsCluster)]),
    ...settings.map(({path, value}) => [path, value]),
  ]) as unknown as ConfigValues;
  const problems = [
    ...settings.flatMap((setting) => problemsOf(setting, joinsCluster)),
    ...findFieldConflicts(values).map((text) => `invalid configuration: ${text}`),
  ];
  if (problems.length > 0) throw new KubeletConfigError(problems);
  const ineffective = (kind: IneffectiveKind): readonly IneffectiveField[] =>
    ineffectiveFields(settings, kind, joinsCluster);
  return {
    values,
    joinsCluster,
    unsupported: [
      ...ineffective('not supported'),
      ...unknownGates(values.featureGates),
      ...unknown.map(([field]) => ({field, reason: 'kubelet 1.36 has no such field'})),
    ],
    ignored: ineffective('ignored'),
  };
}

/** A field that a file or flag sets. */
interface Setting {
  readonly path: ConfigPath;
  readonly value: unknown;
  /** Creates an issue at the position in the file; undefined for a flag. */
  readonly issue?: (message: string) => ManifestIssue;
}

/** Returns the default of a field, which may be another field that a file sets (defaults.go). */
function defaultOf(path: ConfigPath, settings: readonly Setting[], joinsCluster: boolean): unknown {
  const field = CONFIG_FIELDS[path];
  const leader = settings.find((setting) => setting.path === field.follows && setting.issue !== undefined);
  return leader === undefined ? fieldIn(field, joinsCluster).default : leader.value;
}

/** Returns the setting of a field, if any. Zero in a file is the same as a missing field, zero in a flag is a value. */
function settingOf(
  path: ConfigPath,
  decoded: readonly DecodedKubeletConfig[],
  flags: ReadonlyMap<string, readonly string[]>,
): readonly Setting[] {
  const {flag, type} = CONFIG_FIELDS[path];
  const texts = flag === undefined ? undefined : flags.get(flag);
  const inFiles = decoded.flatMap(({fields}) => fields.get(path) ?? []);
  const merged = inFiles.reduce<unknown>((before, {value}) => merge(before, value), undefined);
  if (texts !== undefined) {
    const value = parseFlag(flag ?? '', texts, type);
    // Feature gates are merged; any other flag replaces the value of the files (parseFlagsAgain).
    return [{path, value: path === 'featureGates' ? merge(merged, value) : value}];
  }
  const last = inFiles.at(-1);
  return last === undefined || merged === null || type.isZero?.(merged)
    ? []
    : [{path, value: merged, issue: last.issue}];
}

function parseFlag(
  flag: string,
  texts: readonly string[],
  {fromFlags, redaction}: ConfigField['type'],
): unknown {
  try {
    return fromFlags(texts);
  } catch (error) {
    const shown = redaction === undefined ? ` ${JSON.stringify(texts.join(','))}` : '';
    throw new UsageError(`invalid argument${shown} for "--${flag}" flag: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

/** Merges like a JSON merge patch: objects are merged, other values are replaced. */
function merge(before: unknown, after: unknown): unknown {
  if (!isObject(before) || !isObject(after)) return after;
  const entries = Object.entries(after).map(([key, value]) => [key, merge(before[key], value)]);
  return {...before, ...(Object.fromEntries(entries) as object)};
}

function problemsOf({path, value, issue}: Setting, joinsCluster: boolean): readonly string[] {
  const {type, check, flag} = CONFIG_FIELDS[path];
  const typeProblem = type.problem?.(value);
  const problem = typeProblem ?? check?.(value, joinsCluster);
  if (problem === undefined) return [];
  const name = flag === undefined ? path : `${path} (--${flag})`;
  const message =
    typeProblem === undefined
      ? `invalid configuration: ${name} ${problem}`
      : `${path}: Invalid value: ${JSON.stringify(value)}: ${problem}`;
  return [issue === undefined ? message : renderIssue(issue(message))];
}

function unknownGates(gates: Readonly<Record<string, boolean>>): readonly IneffectiveField[] {
  return Object.keys(gates)
    .filter((name) => !Object.hasOwn(FEATURE_GATES, name))
    .map((name) => ({
      field: `featureGates.${name}`,
      reason: `kcri supports only ${Object.keys(FEATURE_GATES).join(', ')}; other gates have the defaults of Kubernetes 1.36`,
    }));
}

type IneffectiveKind = Exclude<FieldUse['kind'], 'honored'>;

/** Returns the fields of that kind that are set to a value other than the default. */
function ineffectiveFields(
  settings: readonly Setting[],
  kind: IneffectiveKind,
  joinsCluster: boolean,
): readonly IneffectiveField[] {
  return settings.flatMap(({path, value}) => {
    const {use, default: fallback} = fieldIn(CONFIG_FIELDS[path], joinsCluster);
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

/** Converts a valid duration of a configuration to ms. */
export function durationToMs(duration: string): number {
  return Number(parseDuration(duration) ?? 0n) / 1e6;
}

/** Shortest period of a loop, in ms. */
const SHORTEST_PERIOD_MS = 100;

/** Converts the period of a loop to ms. No file, flag or reload makes a loop without a pause. */
export function periodToMs(duration: string): number {
  return Math.min(Math.max(durationToMs(duration), SHORTEST_PERIOD_MS), LONGEST_TIMER_MS);
}

/** Fields that Go omits when they are false; other booleans are pointers. */
const OMITTED_IF_FALSE: ReadonlySet<ConfigPath> = new Set<ConfigPath>([
  'enableContentionProfiling',
  'kernelMemcgNotification',
  'protectKernelDefaults',
  'rotateCertificates',
  'runOnce',
  'serverTLSBootstrap',
]);

/** Reports whether Go omits a value (omitempty): an empty string, list or map, or a zero unless the field is a pointer. */
function isOmitted(path: ConfigPath, value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0;
  if (value === false) return OMITTED_IF_FALSE.has(path);
  return value === '' || (value === 0 && CONFIG_FIELDS[path].type.isZero?.(value) === true);
}

/**
 * Returns the configuration as a KubeletConfiguration object, for /configz, without the fields that Go omits; credentials are
 * masked.
 */
export function toKubeletConfiguration(values: ConfigValues): Readonly<Record<string, unknown>> {
  const root: Record<string, unknown> = {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    // Structs, which Go shows if they are empty, too.
    authentication: {x509: {}},
    memorySwap: {},
  };
  for (const path of CONFIG_PATHS) {
    const value = values[path];
    if (value === undefined || isOmitted(path, value)) continue;
    const {redaction} = CONFIG_FIELDS[path].type;
    const names = path.split('.');
    let at = root;
    for (const name of names.slice(0, -1)) at = (at[name] ??= {}) as Record<string, unknown>;
    at[names.at(-1) ?? ''] = redaction === undefined ? value : redaction.value(value);
  }
  return root;
}
