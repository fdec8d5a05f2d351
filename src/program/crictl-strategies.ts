import type {CommandStrategies} from '../cli/dialect/command-strategies.js';

/** Loaders of crictl's strategies; a command loads only its own. */
export const CRICTL_STRATEGIES: {
  readonly [Name in keyof CommandStrategies]: () => Promise<CommandStrategies[Name]>;
} = {
  attach: async () => (await import('../features/sessions/crictl-attach.js')).CRICTL_ATTACH,
  checkpoint: async () => (await import('../features/containers/crictl-containers.js')).CRICTL_CHECKPOINT,
  completion: async () =>
    (await import('../features/completion/crictl-completion.js')).crictlCompletionScript,
  config: async () => {
    const {createCrictlConfigActions} = await import('../features/config/crictl-config-actions.js');
    return async ({report}, path) => await createCrictlConfigActions(path, report.info);
  },
  configFiles: async () =>
    (await import('../features/cri-configs/crictl/crictl-config-files.js')).CRICTL_CONFIG_FILES,
  events: async () => (await import('../features/events/crictl-events.js')).CRICTL_EVENTS,
  exec: async () => (await import('../features/exec/crictl-exec.js')).crictlExec,
  imagefsinfo: async () => (await import('../features/images/crictl-filesystems.js')).crictlFilesystemLines,
  images: async () => (await import('../features/lists/crictl-list-strategies.js')).listImagesAsCrictl,
  inspect: async () => (await import('../features/inspect/crictl-inspect.js')).CRICTL_INSPECT,
  inspecti: async () => (await import('../features/inspect/crictl-inspect.js')).CRICTL_INSPECTI,
  inspectp: async () => (await import('../features/inspect/crictl-inspect.js')).CRICTL_INSPECTP,
  jsonschema: async () =>
    (await import('../features/cri-configs/crictl/crictl-config-files.js')).CRICTL_SCHEMA,
  logs: async () => (await import('../features/logs/crictl-logs.js')).CRICTL_LOGS,
  pods: async () => (await import('../features/lists/crictl-list-strategies.js')).listPodsAsCrictl,
  portForward: async () =>
    (await import('../features/port-forward/crictl-port-forward.js')).CRICTL_PORT_FORWARD,
  ps: async () => (await import('../features/lists/crictl-list-strategies.js')).listContainersAsCrictl,
  pull: async () => (await import('../features/pull/crictl-pull.js')).CRICTL_PULL,
  rm: async () => {
    const {removeCrictlLogs} = await import('../features/logs/crictl-remove-logs.js');
    return async ({report}, container) => {
      await removeCrictlLogs(container, report.error);
    };
  },
  rmi: async () => (await import('../features/images/crictl-rmi.js')).planImageRemovalAsCrictl,
  run: async () => (await import('../features/run/crictl-run.js')).CRICTL_RUN,
  session: async () => (await import('../features/sessions/crictl-session.js')).CRICTL_SESSION,
  stats: async () => (await import('../features/stats/crictl-stats.js')).CRICTL_STATS,
  stop: async () => (await import('../features/containers/crictl-containers.js')).CRICTL_STOP,
  streaming: async () => (await import('../features/sessions/crictl-streaming.js')).CRICTL_STREAMING,
  watch: async () => (await import('../features/stats/crictl-watch.js')).CRICTL_WATCH,
};
