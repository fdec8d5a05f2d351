import {ConfigError} from '../../base/errors.js';
import {isObject} from '../../base/is-object.js';

type Fields = Readonly<Record<string, unknown>>;

/** Names of the messages in config files. */
type ConfigName = 'ContainerConfig' | 'PodSandboxConfig';

/** Data of a config, not validated yet. */
export interface InspectedConfig {
  readonly data: unknown;
  /** Warning about fields of the original that are missing here. */
  readonly incompleteReason?: string | undefined;
}

/**
 * Extracts the config from the output of `inspect` or `inspectp`: `info.config` of the runtime, or else what the
 * status contains of it. Returns any other data unchanged. Throws ConfigError for several objects.
 */
export function configFromInspect(name: ConfigName, data: unknown): InspectedConfig {
  if (Array.isArray(data)) return configFromInspect(name, singleItem(data));
  if (!isObject(data)) return {data};
  const config = field(field(data, 'info'), 'config');
  if (isObject(config) && 'metadata' in config) return {data: config};
  const status = isObject(data['status']) ? data['status'] : data;
  return isStatus(status) ? FROM_STATUS[name](status) : {data};
}

function singleItem(list: readonly unknown[]): unknown {
  if (list.length === 1) return list[0];
  throw new ConfigError(`must contain one object, not ${list.length}`);
}

function field(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : undefined;
}

/** Reports whether an object is a status: it has an ID and a state, unlike a config. */
function isStatus(data: Fields): boolean {
  return typeof data['id'] === 'string' && 'state' in data;
}

const FROM_STATUS: Readonly<Record<ConfigName, (status: Fields) => InspectedConfig>> = {
  ContainerConfig: (status) => ({
    data: {
      ...pick(status, ['metadata', 'image', 'labels', 'annotations', 'mounts', 'stopSignal']),
      log_path: fileName(status['logPath']),
      linux: {
        resources: field(status['resources'], 'linux'),
        security_context: userOf(field(status['user'], 'linux')),
      },
      windows: windowsOf(field(status['resources'], 'windows')),
    },
    incompleteReason: 'a status lacks command, environment and devices; the defaults of the image are used',
  }),
  PodSandboxConfig: (status) => ({
    data: {
      ...pick(status, ['metadata', 'labels', 'annotations']),
      linux: {
        security_context: {namespace_options: field(field(status['linux'], 'namespaces'), 'options')},
      },
    },
    incompleteReason: 'a status lacks hostname, DNS, ports, log directory and cgroup; they are not set',
  }),
};

function pick(status: Fields, names: readonly string[]): Fields {
  return Object.fromEntries(names.map((name) => [name, status[name]]));
}

/** Returns the name of the log file. Its directory is in the pod's config. */
function fileName(path: unknown): string | undefined {
  return typeof path === 'string' ? path.replace(/^.*\//, '') : undefined;
}

/** Returns the security context with the user of a container. */
function userOf(user: unknown): Fields | undefined {
  if (!isObject(user)) return undefined;
  return {
    run_as_user: {value: user['uid']},
    run_as_group: {value: user['gid']},
    supplemental_groups: user['supplementalGroups'],
  };
}

function windowsOf(resources: unknown): Fields | undefined {
  return resources === undefined || resources === null ? undefined : {resources};
}
