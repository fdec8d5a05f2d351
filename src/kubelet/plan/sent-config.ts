import type {Container, EnvVar, Pod} from '../../api/v1.js';
import {fromJson, toJson} from '../../cri/index.js';
import {ConfigError} from '../../base/errors.js';
import type {Json} from '../../format/json.js';
import {PLANNED_POD_IP} from './planned-services.js';

/** The messages by which sandboxes and containers are made. */
export type ConfigName = 'PodSandboxConfig' | 'ContainerConfig';

/**
 * What the runtime was sent when the object was made, as runtimes keep it in the verbose part of its status; undefined
 * for a runtime that doesn't. Env values are texts.
 */
export function sentConfig(name: ConfigName, info: Readonly<Record<string, string>>): Json | undefined {
  const config = (parsed(info['info']) as {readonly config?: unknown} | undefined)?.config;
  if (typeof config !== 'object' || config === null) return undefined;
  try {
    return comparable(name, fromJson(name, config, {bytes: 'text'}));
  } catch (error) {
    // Another runtime's config may be of another kind.
    if (error instanceof ConfigError) return undefined;
    throw error;
  }
}

function parsed(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** A config in proto JSON, env values as texts. */
export function comparable(name: ConfigName, config: Readonly<Record<string, unknown>>): Json {
  const json = toJson(name, config, {names: 'proto'}) as {readonly envs?: readonly Env[]};
  if (json.envs === undefined) return json as Json;
  const envs = json.envs.map(({key, value = ''}) => ({key, value: Buffer.from(value, 'base64').toString()}));
  return {...json, envs};
}

interface Env {
  readonly key: string;
  readonly value?: string;
}

/** What differs between one start and the next without meaning anything. */
export interface Insignificant {
  /** The UIDs of the pod that runs and of the one that is planned. */
  readonly uids: readonly string[];
  /** The addresses of the pod that runs. */
  readonly ips: readonly string[];
}

const CONFIG_SEEN = /"kubernetes\.io\/config\.seen":"[^"]*",?/g;
/** Of the pod's own directory and of nothing else. */
const TERMINATION_LOG = /(\/pods\/[^/"]+\/containers\/[^/"]+\/)[0-9a-f]{8}(?=")/g;

/** The config without what differs each time. */
export function significant(config: Json, {uids, ips}: Insignificant): Json {
  const texts = [
    ...uids.map((uid) => [uid, '<uid>'] as const),
    ...ips.map((ip) => [ip, PLANNED_POD_IP] as const),
  ];
  const text = texts.reduce(
    (result, [from, to]) => result.replaceAll(from, to),
    JSON.stringify(config).replaceAll(CONFIG_SEEN, '').replaceAll(TERMINATION_LOG, '$1<random>'),
  );
  return JSON.parse(text.replaceAll(',}', '}')) as Json;
}

/** What stands in the place of values that nobody is shown. */
const HIDDEN = '<hidden>';

/**
 * The config without the values of its environment that come, or may come, from a Secret, and without a command line
 * that may repeat one: of which nothing is told, not even whether they have changed.
 */
export function withoutSecretValues(config: Json, pods: readonly Pod[], container: string): Json {
  const {envs, ...rest} = config as {readonly envs?: readonly Env[]};
  if (envs === undefined) return config;
  const sources = pods.flatMap(({spec}) =>
    [...spec.containers, ...(spec.initContainers ?? [])].filter(({name}) => name === container),
  );
  const shown = envs.map(({key, value = ''}) => ({
    key,
    value: sources.some((source) => isSecret(source, key)) ? HIDDEN : value,
  }));
  const hidden = sources.some(repeatsSecrets) ? {command: [HIDDEN], args: [HIDDEN]} : {};
  return {...rest, ...hidden, envs: shown};
}

function repeatsSecrets(container: Container): boolean {
  const {command = [], args = []} = container;
  return hasSecrets(container) && [...command, ...args].some((word) => word.includes('$('));
}

function hasSecrets({env = [], envFrom = []}: Container): boolean {
  return envFrom.some(({secretRef}) => secretRef !== undefined) || env.some(comesFromSecret);
}

/** What another container has put into a file may be secret too. */
function comesFromSecret({valueFrom}: EnvVar): boolean {
  return valueFrom?.secretKeyRef !== undefined || valueFrom?.fileKeyRef !== undefined;
}

/** A value may name another variable that is secret; which ones a Secret brings as a whole isn't known. */
function isSecret(container: Container, key: string): boolean {
  const own = (container.env ?? []).filter(({name}) => name === key);
  if (own.length === 0) return hasSecrets(container);
  return own.some(
    (variable) =>
      comesFromSecret(variable) || (hasSecrets(container) && (variable.value ?? '').includes('$(')),
  );
}
