import {UsageError} from '../../base/errors.js';
import type {ContainerConfig, Init, PodSandboxConfig} from '../../cri/index.js';
import {
  parseContainerConfig,
  parseSandboxConfig,
  readConfigStream,
  readConfigText,
  type ConfigMessages,
} from '../../operations/container-configs/parse-config-file.js';
import type {NamedText} from '../../operations/manifests/read-text.js';
import type {
  DialectContext,
  EnvironmentContext,
  ReportContext,
  SignalContext,
} from '../../cli/command/contexts.js';

declare module '../../cli/dialect/command-strategies.js' {
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
  /** True if `-` is standard input rather than a file. */
  readonly readsStdin: boolean;
}

/** kcri's reading of config files. */
const KCRI_CONFIG_FILES: ConfigFileStrategy = {
  messages: undefined,
  withErrorContext: async (_activity, work) => await work(),
  readsTwice: false,
  readsStdin: true,
};

/** Reads the config files of a command line and warns of probable mistakes. All methods reject with ConfigError. */
export interface CriConfigReader extends Pick<ConfigFileStrategy, 'withErrorContext' | 'readsTwice'> {
  readText(path: string): Promise<NamedText>;
  readContainerConfig(path: string): Promise<Init<ContainerConfig>>;
  /** Reads a pod config from its file or its text. */
  readPodSandboxConfig(source: string | NamedText): Promise<Init<PodSandboxConfig>>;
}

const STDIN = '-';

/** Returns the dialect's reader of these config files. Rejects with UsageError if standard input is given twice. */
export async function createCriConfigReader(
  {
    context,
    dialect,
    report: {warn},
    signal,
  }: DialectContext & EnvironmentContext & ReportContext & SignalContext,
  paths: readonly string[],
): Promise<CriConfigReader> {
  const {messages, withErrorContext, readsTwice, readsStdin} = await dialect.strategy(
    'configFiles',
    KCRI_CONFIG_FILES,
  );
  if (readsStdin && paths.filter((path) => path === STDIN).length > 1)
    throw new UsageError('"-" must not be repeated: standard input can only be read once');
  const readText = async (path: string): Promise<NamedText> =>
    path === STDIN && readsStdin
      ? await readConfigStream({file: 'stdin', stream: context.stdin}, signal, messages)
      : await readConfigText(path, signal, messages);
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
