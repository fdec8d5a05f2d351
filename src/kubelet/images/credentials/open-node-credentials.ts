import type {Clock} from '../../../base/clock.js';
import {UsageError} from '../../../base/errors.js';
import {CredentialProvider} from './credential-provider.js';
import {NodeCredentials} from './node-credentials.js';
import {dockerConfigFiles, NodeDockerConfigReader} from './node-docker-config.js';

/** Where the node's credentials are: the kubelet's flags of the same names, and who asks. */
export interface NodeCredentialsOptions {
  readonly imageCredentialProviderConfig: string | undefined;
  readonly imageCredentialProviderBinDir: string | undefined;
  readonly rootDir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * The node's credentials for registries: what its docker config says when it is wanted, and credential providers, whose
 * configuration is read at once. Rejects with UsageError when only one of their flags is given, and with ConfigError.
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
      '--image-credential-provider-config and --image-credential-provider-bin-dir go together',
    );
  // It reads YAML, which most commands never do.
  const {readProviderConfig} = await import('./provider-config.js');
  const entries = await readProviderConfig(config, binDir);
  return new NodeCredentials(
    dockerConfig,
    entries.map((entry) => new CredentialProvider(entry, {binDir, env, clock})),
  );
}
