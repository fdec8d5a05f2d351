import {ConfigError} from '../../../../base/errors.js';
import {fromJson, toJson} from '../../../../cri/index.js';
import type {Json} from '../../../../format/json.js';

/** Name of the message that creates a sandbox or a container. */
export type ConfigName = 'PodSandboxConfig' | 'ContainerConfig';

/**
 * Returns the config that the runtime received when it created the object, from the verbose part of its status;
 * undefined if the runtime does not report it. Env values are plain text.
 */
export function parseSentConfig(name: ConfigName, info: Readonly<Record<string, string>>): Json | undefined {
  const config = (parsed(info['info']) as {readonly config?: unknown} | undefined)?.config;
  if (typeof config !== 'object' || config === null) return undefined;
  try {
    return toComparableConfig(name, fromJson(name, config, {bytes: 'text'}));
  } catch (error) {
    // The config of another runtime may have a different type.
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

/** Converts a config to proto JSON with env values as plain text. */
export function toComparableConfig(name: ConfigName, config: Readonly<Record<string, unknown>>): Json {
  const json = toJson(name, config, {names: 'proto'}) as {readonly envs?: readonly Env[]};
  if (json.envs === undefined) return json as Json;
  const envs = json.envs.map(({key, value = ''}) => ({key, value: Buffer.from(value, 'base64').toString()}));
  return {...json, envs};
}

interface Env {
  readonly key: string;
  readonly value?: string;
}
