import type {Clock} from '../../../../base/clock.js';
import {UsageError} from '../../../../base/errors.js';
import {CredentialProvider} from './credential-provider.js';
import {NodeCredentials} from './node-credentials.js';
import {dockerConfigFiles, NodeDockerConfigReader} from './node-docker-config.js';

/** Options of openNodeCredentials, named like the kubelet's flags. */
export interface NodeCredentialsOptions {
  readonly imageCredentialProviderConfig: string | undefined;
  readonly imageCredentialProviderBinDir: string | undefined;
  readonly rootDir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * Returns the node's registry credentials. The docker config is read on demand, the configuration of credential
 * providers at once. Rejects with UsageError if only one of the provider flags is set, and with ConfigError.
 */
export async function openNodeCredentials(
  options: NodeCredentialsOptions,
  clock: Clock,
): Promise<NodeCredentials> {
  const {imageCredentialProviderConfig: config, imageCredentialProviderBinDir: binDir, env} = options;
  const files = dockerConfigFiles({rootDir: options.rootDir, homeDir: env['HOME']});
  const dockerConfig = new NodeDockerConfigReader(files, clock);
  if (config === undefined && binDir === undefined) return new NodeCredentials(dockerConfig);
  if (config === undefined || binDir === undefined)
    throw new UsageError(
      '--image-credential-provider-config and --image-credential-provider-bin-dir must be set together',
    );
  // Loaded on demand, because it needs the YAML parser.
  const {readCredentialProviderConfig} = await import('./credential-provider-config.js');
  const entries = await readCredentialProviderConfig(config, binDir);
  return new NodeCredentials(
    dockerConfig,
    entries.map((entry) => new CredentialProvider(entry, {binDir, env, clock})),
  );
}
