import {findContainer} from '../../api/pod-containers.js';
import type {Container, Pod} from '../../api/types/v1-pod.js';
import type {Json} from '../../format/json.js';
import {comesFromSecret, hasSecretValues} from '../managers/redaction/pod-redactor.js';
import {PLANNED_POD_IP} from './planned-services.js';

interface Env {
  readonly key: string;
  readonly value?: string;
}

/** Values that change between starts without significance. */
export interface Insignificant {
  /** UIDs of the running pod and of the planned pod. */
  readonly uids: readonly string[];
  /** IP addresses of the running pod. */
  readonly ips: readonly string[];
}

const CONFIG_SEEN = /"kubernetes\.io\/config\.seen":"[^"]*",?/g;
/** Path of a termination log with a random name, in the directory of the pod only. */
const TERMINATION_LOG = /(\/pods\/[^/"]+\/containers\/[^/"]+\/)[0-9a-f]{8}(?=")/g;

/** Returns the config without the values that change between starts. */
export function stripInsignificant(config: Json, {uids, ips}: Insignificant): Json {
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

/** Placeholder for hidden values. */
const HIDDEN = '<hidden>';

/**
 * Hides the env values of a config that come or may come from a Secret, and a command line that may contain one. Even
 * changes to them are not shown.
 */
export function hideSecretValues(config: Json, pods: readonly Pod[], container: string): Json {
  const {envs, ...rest} = config as {readonly envs?: readonly Env[]};
  if (envs === undefined) return config;
  const sources = pods.flatMap((pod) => findContainer(pod, container) ?? []);
  const shown = envs.map(({key, value = ''}) => ({
    key,
    value: sources.some((source) => isSecret(source, key)) ? HIDDEN : value,
  }));
  const hidden = sources.some(repeatsSecrets) ? {command: [HIDDEN], args: [HIDDEN]} : {};
  return {...rest, ...hidden, envs: shown};
}

/** Hides all env values of a config, any of which may come from a Secret if the manifest is not known. */
export function hideEnvValues(config: Json): Json {
  const {envs, ...rest} = config as {readonly envs?: readonly Env[]};
  return envs === undefined ? config : {...rest, envs: envs.map(({key}) => ({key, value: HIDDEN}))};
}

function repeatsSecrets(container: Container): boolean {
  const {command = [], args = []} = container;
  return hasSecretValues(container) && [...command, ...args].some((word) => word.includes('$('));
}

/**
 * Reports whether a value may be secret. It may refer to a secret variable, and the variables of a whole Secret are
 * unknown.
 */
function isSecret(container: Container, key: string): boolean {
  const own = (container.env ?? []).filter(({name}) => name === key);
  if (own.length === 0) return hasSecretValues(container);
  return own.some(
    (variable) =>
      comesFromSecret(variable) || (hasSecretValues(container) && (variable.value ?? '').includes('$(')),
  );
}
