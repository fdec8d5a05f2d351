import type {ContainerConfig, Init, PodSandboxConfig} from '../../cri/index.js';
import {
  parseContainerConfig,
  parseSandboxConfig,
  readConfigText,
  type ConfigMessages,
} from '../../operations/container-configs/parse-config-file.js';
import type {NamedText} from '../../operations/manifests/read-text.js';
import type {CommandServices} from '../command/command-services.js';

declare module '../command-strategies.js' {
  interface CommandStrategies {
    readonly configFiles: ConfigFileStrategy;
  }
}

/** Differences between the dialects in how config files are read. */
export interface ConfigFileStrategy {
  /** Error texts; kcri's own unless given. */
  readonly messages: ConfigMessages | undefined;
  /** Runs `work` with `activity` as the context of its errors, where the dialect has such a context. */
  readonly withErrorContext: <T>(activity: string, work: () => Promise<T>) => Promise<T>;
  /** True if `run` reads the pod config twice and so warns twice. */
  readonly readsTwice: boolean;
}

/** kcri's reading of config files. */
const KCRI_CONFIG_FILES: ConfigFileStrategy = {
  messages: undefined,
  withErrorContext: async (_activity, work) => await work(),
  readsTwice: false,
};

/** Reads the config files of a command line and warns of probable mistakes. All methods reject with ConfigError. */
export interface CriConfigReader extends Pick<ConfigFileStrategy, 'withErrorContext' | 'readsTwice'> {
  readText(path: string): Promise<NamedText>;
  readContainerConfig(path: string): Promise<Init<ContainerConfig>>;
  /** Reads a pod config from its file or its text. */
  readPodSandboxConfig(source: string | NamedText): Promise<Init<PodSandboxConfig>>;
}

/** Returns the dialect's reader of config files. */
export async function createCriConfigReader({
  dialect,
  report: {warn},
  signal,
}: CommandServices): Promise<CriConfigReader> {
  const {messages, withErrorContext, readsTwice} = await dialect.strategy('configFiles', KCRI_CONFIG_FILES);
  const readText = async (path: string) => await readConfigText(path, signal, messages);
  return {
    readText,
    readContainerConfig: async (path) => await parseContainerConfig(await readText(path), warn, messages),
    readPodSandboxConfig: async (source) => {
      const text = typeof source === 'string' ? await readText(source) : source;
      return await parseSandboxConfig(text, warn, messages);
    },
    withErrorContext,
    readsTwice,
  };
}
