/** A plugin that has registered with a socket in the directory of the plugin watcher (pluginregistration PluginInfo). */
export interface RegisteredPlugin {
  readonly name: string;
  /** Socket of the plugin's services. */
  readonly endpoint: string;
  readonly versions: readonly string[];
}

/** Handler of the plugins of one type (cache.PluginHandler). */
export interface PluginHandler {
  /** `CSIPlugin`, `DevicePlugin` or `DRAPlugin`. */
  readonly type: string;
  /** Returns why the plugin cannot be registered; undefined if it can. */
  readonly validate: (plugin: RegisteredPlugin) => string | undefined;
  /** Rejects with an expected error if the plugin cannot be used. */
  readonly register: (plugin: RegisteredPlugin, signal: AbortSignal) => Promise<void>;
  /** Must not throw. */
  readonly deregister: (plugin: RegisteredPlugin) => void;
}
