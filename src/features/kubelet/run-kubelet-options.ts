import type {CallObserver} from '../../cri/index.js';
import type {
  CommandContext,
  ConnectionContext,
  EnvironmentContext,
  SettingsContext,
  SignalContext,
} from '../../cli/command/contexts.js';
import {durationMs} from '../../cli/flags/flag-types.js';
import type {PodFlagValues} from '../manifests/pod-flags.js';
import {readCommandNode, openNodeCredentials} from '../manifests/read-command-node.js';
import {programVersion} from '../../cli/process/program-version.js';
import {KUBELET_CONTAINER_LOGS_DIR} from '../../kubelet/index.js';
import {containerGcPolicy} from './container-gc-flags.js';
import {redactFlags, type KubeconfigFlags} from './kubelet-flags.js';
import type {KubeletNodeFlags} from './kubelet-node-flags.js';
import type {RunKubeletOptions} from './run-kubelet.js';
import {validateConnection} from './validate-connection.js';
import type {ConfigValues} from '../../kubelet/configuration/fields-and-defaults/kubelet-config-defaults.js';

/** Values of all flags of the command `kubelet`. */
export type KubeletFlagValues = Readonly<Record<string, unknown>> &
  PodFlagValues & {
    readonly 'authorization-policy-file'?: string | undefined;
    readonly 'no-admission'?: boolean;
    readonly 'stop-pods-on-exit'?: boolean;
  };

/** Returns the options of a kubelet with these flags and this configuration. */
export function createRunKubeletOptions(
  services: CommandContext,
  flags: KubeletFlagValues,
  reading: Pick<
    RunKubeletOptions,
    'config' | 'readConfig' | 'ignoredFlags' | 'certDir' | keyof KubeletNodeFlags | keyof KubeconfigFlags
  >,
): RunKubeletOptions {
  const {context, secrets, settings} = services;
  return {
    ...reading,
    rootDir: settings.rootDir,
    policyFile: flags['authorization-policy-file'],
    open: async (observers) =>
      await openRuntime(services, {...flags, ...nodeFlags(flags, reading)}, {observers, ...reading.config}),
    admission: flags['no-admission'] !== true,
    stopPodsOnExit: flags['stop-pods-on-exit'] === true,
    containerGc: containerGcPolicy(flags),
    program: {version: programVersion(), flags: redactFlags(flags)},
    context,
    isOnlyLog: context.calledAs === 'kubelet',
    mask: (text) => secrets.mask(text),
    hide: (texts) => {
      secrets.replace(texts);
    },
  };
}

/** Opens the connection to the configured runtime; see RunKubeletOptions. Both functions reject with KcriError. */
async function openRuntime(
  services: ConnectionContext & EnvironmentContext & SettingsContext & SignalContext,
  flags: KubeletFlagValues,
  {
    observers,
    values,
  }: {readonly observers: readonly CallObserver[]} & Pick<RunKubeletOptions['config'], 'values'>,
): ReturnType<RunKubeletOptions['open']> {
  const {connections, settings, signal} = services;
  const {containerRuntimeEndpoint, imageServiceEndpoint, runtimeRequestTimeout} = values;
  const endpoint = containerRuntimeEndpoint === '' ? await connections.endpoint() : containerRuntimeEndpoint;
  // Settings of crictl must not separate the images from the runtime that the configuration names.
  const own = containerRuntimeEndpoint === '' ? (await settings.read()).imageEndpoint : undefined;
  const imageEndpoint = imageServiceEndpoint === '' ? own : imageServiceEndpoint;
  const timeoutMs = durationMs(runtimeRequestTimeout);
  const connection = await connections.open(endpoint, {timeoutMs, imageEndpoint, observers});
  return {
    connection,
    describe: async () => {
      await validateConnection(connection, {endpoint, imageEndpoint}, signal);
      const node = await readCommandNode(services, {...flags, ...nodeFlagsFromConfig(values)}, connection);
      return {...node, imageCredentials: await openNodeCredentials(services, flags)};
    },
  };
}

/** Returns the values of flags of the node that depend on others: in a cluster, the pods are those of the node. */
function nodeFlags(
  flags: KubeletFlagValues,
  {kubeconfig, nodeIps}: KubeconfigFlags & KubeletNodeFlags,
): PodFlagValues {
  const clusterDefault = kubeconfig === undefined ? undefined : KUBELET_CONTAINER_LOGS_DIR;
  return {'node-ip': nodeIps, 'container-logs-dir': flags['container-logs-dir'] ?? clusterDefault};
}

/** Converts the node settings of a KubeletConfiguration to the flag values of other commands. */
function nodeFlagsFromConfig(values: ConfigValues): PodFlagValues {
  const {cgroupDriver, resolvConf} = values;
  return {
    'cluster-dns': values.clusterDNS,
    'cluster-domain': values.clusterDomain,
    // The default file may be missing; an explicit one must exist.
    'resolv-conf': resolvConf === '/etc/resolv.conf' ? undefined : resolvConf,
    'pod-logs-dir': values.podLogsDir,
    'volume-plugin-dir': values.volumePluginDir,
    'cgroup-root': values.cgroupRoot,
    'cgroup-driver': cgroupDriver === 'systemd' || cgroupDriver === 'cgroupfs' ? cgroupDriver : undefined,
    'seccomp-default': values.seccompDefault,
    'allowed-unsafe-sysctls': values.allowedUnsafeSysctls,
    'pod-max-pids': values.podPidsLimit,
  };
}
