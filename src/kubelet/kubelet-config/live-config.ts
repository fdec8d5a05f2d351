import {CONFIG_FIELDS, CONFIG_PATHS, type ConfigPath, type ConfigValues} from './fields.js';
import type {KubeletConfig} from './kubelet-config.js';

/** What of a configuration that was read again is otherwise than what is in force. */
export interface ConfigChange {
  /** In force from now on. */
  readonly applied: readonly ConfigPath[];
  /** Taken up by a kubelet that is started anew. */
  readonly needRestart: readonly ConfigPath[];
  /** Whoever sets them changes nothing. */
  readonly withoutEffect: readonly ConfigPath[];
}

/** The configuration that is in force while a kubelet runs. */
export class LiveConfig {
  #values: ConfigValues;
  readonly #read: () => Promise<KubeletConfig>;

  /** `read` gives what files and flags say now. */
  constructor({values}: KubeletConfig, read: () => Promise<KubeletConfig>) {
    this.#values = values;
    this.#read = read;
  }

  get values(): ConfigValues {
    return this.#values;
  }

  /** Reads the configuration again. Rejects with KcriError when it can't be used; then nothing changes. */
  async reload(): Promise<ConfigChange> {
    const {values} = await this.#read();
    const changed = CONFIG_PATHS.filter(
      (path) => JSON.stringify(values[path]) !== JSON.stringify(this.#values[path]),
    );
    const applied = changed.filter((path) => CONFIG_FIELDS[path].live);
    const others = changed.filter((path) => !CONFIG_FIELDS[path].live);
    this.#values = {...this.#values, ...Object.fromEntries(applied.map((path) => [path, values[path]]))};
    return {
      applied,
      needRestart: others.filter((path) => CONFIG_FIELDS[path].use.kind === 'honoured'),
      withoutEffect: others.filter((path) => CONFIG_FIELDS[path].use.kind !== 'honoured'),
    };
  }
}
