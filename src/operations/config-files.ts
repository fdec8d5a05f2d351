import {randomUUID} from 'node:crypto';
import {readFile} from 'node:fs/promises';
import {ConfigError, hasErrno, KcriError, messageOf} from '../base/errors.js';
import {fromJson, podUid, type ContainerConfig, type Init, type PodSandboxConfig} from '../cri/index.js';

/** Told about everything in a file that is likely a mistake. */
export type OnWarning = (warning: string) => void;

/**
 * A container config from a JSON or YAML file as crictl takes it, with keys and enums in either style. The
 * image's name is noted as the one the user specified. Throws ConfigError, in crictl's words where it has any.
 */
export async function readContainerConfig(
  path: string,
  onWarning: OnWarning,
): Promise<Init<ContainerConfig>> {
  const config = await readConfig('ContainerConfig', path, onWarning);
  const {metadata, image} = config;
  if (metadata === undefined) throw wrong(path, 'metadata is not set');
  if ((metadata.name ?? '') === '') throw wrong(path, 'name is not in metadata');
  if (image === undefined) throw wrong(path, 'image is not set');
  if ((image.image ?? '') === '') throw wrong(path, 'image field is not set in image');
  return {...config, image: {...image, userSpecifiedImage: image.userSpecifiedImage ?? image.image}};
}

/**
 * A sandbox config from a JSON or YAML file as crictl takes it. A missing UID is made up. Throws ConfigError.
 */
export async function readSandboxConfig(path: string, onWarning: OnWarning): Promise<Init<PodSandboxConfig>> {
  const config = await readConfig('PodSandboxConfig', path, onWarning);
  const {metadata, linux} = config;
  if (metadata === undefined) throw wrong(path, 'metadata is not set');
  if ((metadata.name ?? '') === '' || (metadata.namespace ?? '') === '')
    throw wrong(path, 'name or namespace is not in metadata');
  if (linux !== undefined && (linux.cgroupParent ?? '') === '')
    onWarning(`${path}: cgroup_parent is not set; the runtime chooses the pod's cgroup`);
  return {...config, metadata: {...metadata, uid: metadata.uid ?? podUid(randomUUID())}};
}

interface Configs {
  readonly ContainerConfig: Init<ContainerConfig>;
  readonly PodSandboxConfig: Init<PodSandboxConfig>;
}

async function readConfig<Name extends keyof Configs>(
  name: Name,
  path: string,
  onWarning: OnWarning,
): Promise<Configs[Name]> {
  const onUnknown = (key: string): void => {
    onWarning(`${path}: unknown field "${key}" in the ${name}, ignored`);
  };
  try {
    const data = await parse(await readFile(path, 'utf8'));
    // Config files hold the values of env variables as they are, though the CRI's field is bytes.
    return fromJson(name, data, {onUnknown, bytes: 'text'});
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) throw new ConfigError(`config at ${path} not found`, {cause: error});
    if (error instanceof KcriError || hasErrno(error, 'EISDIR', 'EACCES', 'ENOTDIR', 'EPERM', 'ELOOP'))
      throw wrong(path, messageOf(error), error);
    throw error;
  }
}

async function parse(text: string): Promise<unknown> {
  const {parse: parseYaml, YAMLParseError} = await import('yaml');
  try {
    return parseYaml(text, {version: '1.1', intAsBigInt: true}) as unknown;
  } catch (error) {
    if (error instanceof YAMLParseError) throw new ConfigError(error.message, {cause: error});
    throw error;
  }
}

function wrong(path: string, what: string, cause?: unknown): ConfigError {
  return new ConfigError(`reading the config "${path}": ${what}`, {cause});
}
