import type {ContainerConfig, Init, PodSandboxConfig} from '../cri/index.js';
import {
  parseContainerConfig,
  parseSandboxConfig,
  readConfigText,
  type ConfigWords,
} from '../operations/config-files.js';
import type {NamedText} from '../operations/read-text.js';

/** Who reads config files. */
export interface ConfigUser {
  readonly compat: boolean;
  readonly signal: AbortSignal;
  /** Told of everything that is likely a mistake. */
  readonly warn: (text: string) => void;
}

/** Reads config files. All methods throw ConfigError. */
export interface ConfigReader {
  text(path: string): Promise<NamedText>;
  container(path: string): Promise<Init<ContainerConfig>>;
  /** A pod config, from its file or its text. */
  sandbox(source: string | NamedText): Promise<Init<PodSandboxConfig>>;
  /** Does something, and says what it was where crictl says so of an error that speaks for itself. */
  saying<T>(doing: string, work: () => Promise<T>): Promise<T>;
}

/** The reader of config files in the words of who uses it. */
export async function configReader({compat, signal, warn}: ConfigUser): Promise<ConfigReader> {
  const {words, saying} = await (compat ? crictls() : own());
  const text = async (path: string) => await readConfigText(path, signal, words);
  return {
    text,
    container: async (path) => await parseContainerConfig(await text(path), warn, words),
    sandbox: async (source) =>
      await parseSandboxConfig(typeof source === 'string' ? await text(source) : source, warn, words),
    saying,
  };
}

interface Manner extends Pick<ConfigReader, 'saying'> {
  readonly words: ConfigWords | undefined;
}

async function own(): Promise<Manner> {
  return await Promise.resolve({words: undefined, saying: async (_doing, work) => await work()});
}

async function crictls(): Promise<Manner> {
  const [{CRICTL_CONFIG_WORDS: words}, {saying}] = await Promise.all([
    import('./compat/config-words.js'),
    import('./compat/lists.js'),
  ]);
  return {words, saying};
}
