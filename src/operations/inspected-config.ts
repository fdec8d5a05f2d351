import {ConfigError} from '../base/errors.js';

type Fields = Readonly<Record<string, unknown>>;

/** The messages that config files hold. */
type ConfigName = 'ContainerConfig' | 'PodSandboxConfig';

/** A config's data, not checked yet. */
export interface InspectedConfig {
  readonly data: unknown;
  /** What is not in it although the original had it. */
  readonly lost?: string | undefined;
}

/**
 * The config in what `inspect` and `inspectp` print: the one that the runtime keeps in `info.config`, or else what
 * the status tells of it. Anything else is taken for a config itself. Throws ConfigError for several objects.
 */
export function inspectedConfig(name: ConfigName, data: unknown): InspectedConfig {
  if (Array.isArray(data)) return inspectedConfig(name, onlyOne(data));
  if (!isFields(data)) return {data};
  const config = field(field(data, 'info'), 'config');
  if (isFields(config) && 'metadata' in config) return {data: config};
  const status = isFields(data['status']) ? data['status'] : data;
  return isStatus(status) ? FROM_STATUS[name](status) : {data};
}

function onlyOne(list: readonly unknown[]): unknown {
  if (list.length === 1) return list[0];
  throw new ConfigError(`there are ${list.length} objects in it, and one is needed`);
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function field(value: unknown, name: string): unknown {
  return isFields(value) ? value[name] : undefined;
}

/** Statuses have an id and a state; configs have neither. */
function isStatus(data: Fields): boolean {
  return typeof data['id'] === 'string' && 'state' in data;
}

const FROM_STATUS: Readonly<Record<ConfigName, (status: Fields) => InspectedConfig>> = {
  ContainerConfig: (status) => ({
    data: {
      ...kept(status, ['metadata', 'image', 'labels', 'annotations', 'mounts', 'stopSignal']),
      log_path: fileName(status['logPath']),
      linux: {
        resources: field(status['resources'], 'linux'),
        security_context: userOf(field(status['user'], 'linux')),
      },
      windows: windowsOf(field(status['resources'], 'windows')),
    },
    lost: 'a status does not tell the command, the environment and the devices: those of the image are used',
  }),
  PodSandboxConfig: (status) => ({
    data: {
      ...kept(status, ['metadata', 'labels', 'annotations']),
      linux: {
        security_context: {namespace_options: field(field(status['linux'], 'namespaces'), 'options')},
      },
    },
    lost: 'a status does not tell the hostname, DNS, ports, log directory and cgroup: there are none now',
  }),
};

function kept(status: Fields, names: readonly string[]): Fields {
  return Object.fromEntries(names.map((name) => [name, status[name]]));
}

/** The log's name in its directory, which the pod's config names. */
function fileName(path: unknown): string | undefined {
  return typeof path === 'string' ? path.replace(/^.*\//, '') : undefined;
}

/** The user that a container ran as. */
function userOf(user: unknown): Fields | undefined {
  if (!isFields(user)) return undefined;
  return {
    run_as_user: {value: user['uid']},
    run_as_group: {value: user['gid']},
    supplemental_groups: user['supplementalGroups'],
  };
}

function windowsOf(resources: unknown): Fields | undefined {
  return resources === undefined || resources === null ? undefined : {resources};
}
