import {
  CONFIG_FIELDS,
  CONFIG_PATHS,
  type ConfigPath,
  type ConfigValues,
} from './fields-and-defaults/kubelet-config-defaults.js';
import {fieldIn} from './config-field.js';
import type {KubeletConfig} from './kubelet-config.js';

/** Fields that have changed at a reload. */
export interface ConfigChange {
  /** Fields whose new values are in effect. */
  readonly applied: readonly ConfigPath[];
  /** Fields whose new values take effect after a restart. */
  readonly needRestart: readonly ConfigPath[];
  /** Fields that have no effect. */
  readonly ineffective: readonly ConfigPath[];
}

/** Configuration in effect of a running kubelet. */
export class LiveConfig {
  #values: ConfigValues;
  readonly #joinsCluster: boolean;
  readonly #read: () => Promise<KubeletConfig>;

  /** `read` reads the files and flags again. */
  constructor({values, joinsCluster}: KubeletConfig, read: () => Promise<KubeletConfig>) {
    this.#values = values;
    this.#joinsCluster = joinsCluster;
    this.#read = read;
  }

  get values(): ConfigValues {
    return this.#values;
  }

  /** Sets the verbosity of the log until the configuration is read again. */
  setVerbosity(level: number): void {
    this.#values = {...this.#values, 'logging.verbosity': level};
  }

  /** Reads the configuration again. Rejects with KcriError and changes nothing if it is invalid. */
  async reload(): Promise<ConfigChange> {
    const {values} = await this.#read();
    const changed = CONFIG_PATHS.filter(
      (path) => JSON.stringify(values[path]) !== JSON.stringify(this.#values[path]),
    );
    const applied = changed.filter((path) => CONFIG_FIELDS[path].live);
    const others = changed.filter((path) => !CONFIG_FIELDS[path].live);
    this.#values = {...this.#values, ...Object.fromEntries(applied.map((path) => [path, values[path]]))};
    const isHonored = (path: ConfigPath): boolean =>
      fieldIn(CONFIG_FIELDS[path], this.#joinsCluster).use.kind === 'honored';
    return {
      applied,
      needRestart: others.filter(isHonored),
      ineffective: others.filter((path) => !isHonored(path)),
    };
  }
}
