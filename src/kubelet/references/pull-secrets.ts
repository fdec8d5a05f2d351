import type {Pod} from '../../api/v1.js';
import type {Secret} from '../../api/v1-objects.js';
import {ConfigError, messageOf} from '../../base/errors.js';
import type {ApiObjects} from '../container/api-objects.js';
import {podRef} from '../container/pod-ref.js';
import {
  parseDockerConfig,
  type DockerConfig,
  type DockerConfigFormat,
} from '../images/credentials/docker-config.js';
import type {SourcedDockerConfig} from '../images/credentials/keyring.js';

/** What a pod brings to pull its images with. */
export interface PullSecrets {
  /** In the order of spec.imagePullSecrets. */
  readonly configs: readonly SourcedDockerConfig[];
  /** Secrets that aren't there: the pull is tried without them. */
  readonly missing: readonly string[];
}

/** Where a Secret of a type keeps its docker config, and in which form; other types hold none. */
const CONFIG_KEYS: Readonly<Record<string, readonly [key: string, format: DockerConfigFormat]>> = {
  'kubernetes.io/dockerconfigjson': ['.dockerconfigjson', 'config.json'],
  'kubernetes.io/dockercfg': ['.dockercfg', '.dockercfg'],
};

/**
 * The docker configs of the pod's imagePullSecrets (Kubelet.getPullSecretsForPod, MakeDockerKeyring), to which
 * admission has added those of its ServiceAccount.
 *
 * @throws ConfigError for a Secret whose docker config can't be read; it repeats nothing of it.
 */
export function podPullSecrets(pod: Pod, objects: ApiObjects): PullSecrets {
  const {namespace} = podRef(pod);
  const names = (pod.spec.imagePullSecrets ?? []).map(({name = ''}) => name).filter((name) => name !== '');
  const found = names.map((name) => ({name, secret: objects.secret(namespace, name)}));
  return {
    configs: found.flatMap(({name, secret}) => {
      const config = secret && dockerConfig(secret, `${namespace}/${name}`);
      return config === undefined
        ? []
        : [{config, secret: {uid: secret?.metadata.uid ?? '', namespace, name}}];
    }),
    missing: found.flatMap(({name, secret}) => (secret === undefined ? [name] : [])),
  };
}

function dockerConfig({type = '', data = {}}: Secret, title: string): DockerConfig | undefined {
  const [key, format] = (Object.hasOwn(CONFIG_KEYS, type) ? CONFIG_KEYS[type] : undefined) ?? [];
  const content = key === undefined ? undefined : data[key];
  if (format === undefined || content === undefined || content.length === 0) return undefined;
  try {
    return parseDockerConfig(Buffer.from(content).toString(), format);
  } catch (cause) {
    throw new ConfigError(`reading the docker config of the Secret "${title}": ${messageOf(cause)}`, {cause});
  }
}
