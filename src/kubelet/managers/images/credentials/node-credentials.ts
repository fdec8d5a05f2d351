import {lookUpLogins, type PullCredential, type SourcedDockerConfig} from './keyring.js';
import type {NodeDockerConfigReader} from './node-docker-config.js';
import type {CredentialProvider} from './credential-provider.js';

/** Credentials for a pull, in the order to try them. */
export interface FoundCredentials {
  readonly credentials: readonly PullCredential[];
  /** Reasons why further credentials are unavailable. */
  readonly problems: readonly string[];
}

/** Registry credentials of the node: its docker config and its credential providers. */
export class NodeCredentials {
  readonly #dockerConfig: Pick<NodeDockerConfigReader, 'read'> | undefined;
  readonly #providers: readonly Pick<CredentialProvider, 'provide'>[];

  constructor(
    dockerConfig?: Pick<NodeDockerConfigReader, 'read'>,
    providers: readonly Pick<CredentialProvider, 'provide'>[] = [],
  ) {
    this.#dockerConfig = dockerConfig;
    this.#providers = providers;
  }

  /** Returns the node's credentials without those of providers, which are then not run. */
  withoutProviders(): NodeCredentials {
    return new NodeCredentials(this.#dockerConfig);
  }

  /**
   * Returns the credentials for a repository: those of the pod, of the node's docker config and of providers
   * (makeLookupPullCredentialsFunc). Failures are returned as problems; rejects only with the signal's reason.
   */
  async lookUp(
    repository: string,
    podConfigs: readonly SourcedDockerConfig[],
    signal: AbortSignal,
  ): Promise<FoundCredentials> {
    const node = await this.#dockerConfig?.read();
    const provided = await Promise.all(
      this.#providers.map((provider) => provider.provide(repository, signal)),
    );
    const configs = provided.flatMap((result) => ('config' in result ? [{config: result.config}] : []));
    const failures = provided.flatMap((result) => ('problem' in result ? [result.problem] : []));
    return {
      credentials: [
        ...lookUpLogins(podConfigs, repository),
        ...lookUpLogins(node === undefined ? [] : [node], repository),
        ...lookUpLogins(configs, repository),
      ],
      problems: [...(node?.problems ?? []), ...failures],
    };
  }
}
