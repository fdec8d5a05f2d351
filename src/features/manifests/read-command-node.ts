import type {Connection} from '../../cri/index.js';
import type {NodeAndRuntime, NodeCredentials} from '../../kubelet/index.js';
import type {
  ConnectionContext,
  EnvironmentContext,
  SettingsContext,
  SignalContext,
} from '../../cli/command/contexts.js';
import {nodeOptions, type PodFlagValues} from './pod-flags.js';

/**
 * Reads the facts of the node, with the flags of the command, and of its runtime, by default the configured one. Of a
 * remote node only its name is known.
 */
export async function readCommandNode(
  services: ConnectionContext & EnvironmentContext & SettingsContext & SignalContext,
  flags: PodFlagValues = {},
  connection?: Connection,
): Promise<NodeAndRuntime> {
  const {readNode} = await import('../../kubelet/index.js');
  const {context, connections, settings, signal} = services;
  const {clock, cgroupMount} = context;
  const options = {...nodeOptions(flags, settings.rootDir), cgroupMount};
  const found = await readNode(connection ?? (await connections.default()), options, {clock, signal});
  const {remote} = connections;
  return remote === undefined
    ? found
    : {...found, node: {...found.node, nodeName: remote.node.host, nodeIps: [], hostIps: {current: []}}};
}

/** Opens the node's registry credentials. Rejects with ConfigError. */
export async function openNodeCredentials(
  {context, settings}: EnvironmentContext & SettingsContext,
  flags: PodFlagValues,
): Promise<NodeCredentials> {
  const {openNodeCredentials: open} = await import('../../kubelet/index.js');
  const {env, clock} = context;
  return await open(
    {
      imageCredentialProviderConfig: flags['image-credential-provider-config'],
      imageCredentialProviderBinDir: flags['image-credential-provider-bin-dir'],
      rootDir: settings.rootDir,
      env,
    },
    clock,
  );
}
