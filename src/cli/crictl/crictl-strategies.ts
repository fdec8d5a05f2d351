import type {CommandStrategies} from '../command-strategies.js';

/** Loaders of crictl's strategies; a command loads only its own. */
export const CRICTL_STRATEGIES: {
  readonly [Name in keyof CommandStrategies]: () => Promise<CommandStrategies[Name]>;
} = {
  attach: async () => (await import('./strategies/small.js')).CRICTL_ATTACH,
  checkpoint: async () => (await import('./strategies/small.js')).crictlCheckpoint,
  completion: async () => (await import('./crictl-completion.js')).crictlCompletionScript,
  config: async () => {
    const {createCrictlConfigActions} = await import('./crictl-config-actions.js');
    return async ({report}, path) => await createCrictlConfigActions(path, report.info);
  },
  configFiles: async () => (await import('./strategies/config-files.js')).CRICTL_CONFIG_FILES,
  events: async () => (await import('./strategies/events.js')).CRICTL_EVENTS,
  exec: async () => (await import('./strategies/exec.js')).crictlExec,
  imagefsinfo: async () => (await import('./crictl-filesystems.js')).crictlFilesystemLines,
  images: async () => (await import('./strategies/lists.js')).listImagesAsCrictl,
  inspect: async () => (await import('./strategies/inspect.js')).CRICTL_INSPECT,
  inspecti: async () => (await import('./strategies/inspect.js')).CRICTL_INSPECTI,
  inspectp: async () => (await import('./strategies/inspect.js')).CRICTL_INSPECTP,
  jsonschema: async () => (await import('./strategies/small.js')).CRICTL_SCHEMA,
  logs: async () => (await import('./strategies/logs.js')).CRICTL_LOGS,
  pods: async () => (await import('./strategies/lists.js')).listPodsAsCrictl,
  portForward: async () => (await import('./strategies/port-forward.js')).CRICTL_PORT_FORWARD,
  ps: async () => (await import('./strategies/lists.js')).listContainersAsCrictl,
  pull: async () => (await import('./strategies/pull.js')).CRICTL_PULL,
  rm: async () => {
    const {removeCrictlLogs} = await import('./crictl-remove-logs.js');
    return async ({report}, container) => {
      await removeCrictlLogs(container, report.error);
    };
  },
  rmi: async () => (await import('./strategies/rmi.js')).planImageRemovalAsCrictl,
  run: async () => (await import('./strategies/small.js')).CRICTL_RUN,
  session: async () => (await import('./strategies/session.js')).CRICTL_SESSION,
  stats: async () => (await import('./strategies/stats.js')).CRICTL_STATS,
  stop: async () => (await import('./strategies/small.js')).CRICTL_STOP,
  streaming: async () => (await import('./strategies/streaming.js')).CRICTL_STREAMING,
  watch: async () => (await import('./strategies/watch.js')).CRICTL_WATCH,
};
