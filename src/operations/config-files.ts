import {randomUUID} from 'node:crypto';
import {ConfigError, hasErrno, isSystemCallError, KcriError, messageOf} from '../base/errors.js';
import {fromJson, podUid, type ContainerConfig, type Init, type PodSandboxConfig} from '../cri/index.js';
import {readFileOrPipeText, type NamedText} from './read-text.js';

/** Told about everything in a file that is likely a mistake. */
export type OnWarning = (warning: string) => void;

/**
 * A config file or pipe, read once: a pipe gives its text only once. Throws ConfigError, in crictl's words where it
 * has any, and the signal's reason.
 */
export async function readConfigText(file: string, signal: AbortSignal): Promise<NamedText> {
  try {
    return {file, text: await readFileOrPipeText(file, signal)};
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) throw new ConfigError(`config at ${file} not found`, {cause: error});
    throw explained(file, error);
  }
}

/**
 * A container config from JSON or YAML as crictl takes it, with keys and enums in either style. The
 * image's name is noted as the one the user specified. Throws ConfigError, in crictl's words where it has any.
 */
export async function parseContainerConfig(
  source: NamedText,
  onWarning: OnWarning,
): Promise<Init<ContainerConfig>> {
  const config = await parseConfig('ContainerConfig', source, onWarning);
  const {file: path} = source;
  const {metadata, image} = config;
  if (metadata === undefined) throw wrong(path, 'metadata is not set');
  if ((metadata.name ?? '') === '') throw wrong(path, 'name is not in metadata');
  if (image === undefined) throw wrong(path, 'image is not set');
  if ((image.image ?? '') === '') throw wrong(path, 'image field is not set in image');
  return {...config, image: {...image, userSpecifiedImage: image.userSpecifiedImage ?? image.image}};
}

/**
 * A sandbox config from JSON or YAML as crictl takes it. A missing UID is made up. Throws ConfigError.
 */
export async function parseSandboxConfig(
  source: NamedText,
  onWarning: OnWarning,
): Promise<Init<PodSandboxConfig>> {
  const config = await parseConfig('PodSandboxConfig', source, onWarning);
  const {file: path} = source;
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

async function parseConfig<Name extends keyof Configs>(
  name: Name,
  {file, text}: NamedText,
  onWarning: OnWarning,
): Promise<Configs[Name]> {
  const onUnknown = (key: string): void => {
    onWarning(`${file}: unknown field "${key}" in the ${name}, ignored`);
  };
  const data = await parseText(file, text);
  try {
    // Config files hold the values of env variables as they are, though the CRI's field is bytes.
    return fromJson(name, data, {onUnknown, bytes: 'text'});
  } catch (error) {
    throw explained(file, error);
  }
}

async function parseText(file: string, text: string): Promise<unknown> {
  const {parse} = await import('yaml');
  try {
    return parse(text, {version: '1.1', intAsBigInt: true}) as unknown;
  } catch (error) {
    // Besides its own errors it throws plain ones, for aliases without an anchor or with a billion laughs.
    throw wrong(file, messageOf(error), error);
  }
}

/** The file's name before what is wrong with it; faults of the program are left as they are. */
function explained(file: string, error: unknown): unknown {
  return error instanceof KcriError || isSystemCallError(error)
    ? wrong(file, messageOf(error), error)
    : error;
}

function wrong(path: string, what: string, cause?: unknown): ConfigError {
  return new ConfigError(`reading the config "${path}": ${what}`, {cause});
}
