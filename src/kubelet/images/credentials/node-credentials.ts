import {lookUpLogins, type PullCredential, type SourcedDockerConfig} from './keyring.js';
import type {NodeDockerConfigReader} from './node-docker-config.js';
import type {CredentialProvider} from './credential-provider.js';

/** Credentials for a pull, in the order in which they are tried. */
export interface FoundCredentials {
  readonly credentials: readonly PullCredential[];
  /** Why others could not be had, for people. */
  readonly problems: readonly string[];
}

/** Where credentials come from that belong to the node: its docker config and its credential providers. */
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

  /** The same without running providers. */
  withoutProviders(): NodeCredentials {
    return new NodeCredentials(this.#dockerConfig);
  }

  /**
   * The credentials for a repository: the pod's own first, then those of the node's docker config, then what providers
   * give (makeLookupPullCredentialsFunc). What fails is among the problems; rejects only with the signal's reason.
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
    const configs = provided.flatMap((answer) => ('config' in answer ? [{config: answer.config}] : []));
    const failures = provided.flatMap((answer) => ('problem' in answer ? [answer.problem] : []));
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
