import type {Secret} from '../../../api/v1-objects.js';
import type {Pod} from '../../../api/v1.js';
import {ConfigError, messageOf} from '../../../base/errors.js';
import type {ApiObjects} from '../../container/api-objects.js';
import {podRef} from '../../container/pod-ref.js';
import {parseDockerConfig, type DockerConfigFormat} from './docker-config.js';
import type {SourcedDockerConfig} from './keyring.js';

/** The Secrets that a pod's images may be pulled with. */
export interface PullSecrets {
  readonly secrets: readonly Secret[];
  /** The names of those that aren't there. */
  readonly missing: readonly string[];
}

/** A pod without a ServiceAccount of its own has this one. */
const DEFAULT_SERVICE_ACCOUNT = 'default';

/**
 * The Secrets of the pod's imagePullSecrets, or of its ServiceAccount's when it names none, as the API server's admission
 * has it (kubelet getPullSecretsForPod).
 */
export function findPullSecrets({metadata, spec}: Pod, objects: ApiObjects): PullSecrets {
  const {namespace = 'default'} = metadata;
  const {imagePullSecrets: own = [], serviceAccountName = ''} = spec;
  const account = objects.serviceAccount(namespace, serviceAccountName || DEFAULT_SERVICE_ACCOUNT);
  const names = (own.length > 0 ? own : (account?.imagePullSecrets ?? []))
    .map(({name = ''}) => name)
    .filter((name) => name !== '');
  const found = names.map((name) => ({name, secret: objects.secret(namespace, name)}));
  return {
    secrets: found.flatMap(({secret}) => secret ?? []),
    missing: found.filter(({secret}) => secret === undefined).map(({name}) => name),
  };
}

/** The types of Secrets that hold docker configs, under which key, and how they are written. */
const DOCKER_CONFIG_TYPES: Readonly<Record<string, readonly [key: string, format: DockerConfigFormat]>> = {
  'kubernetes.io/dockerconfigjson': ['.dockerconfigjson', 'config.json'],
  'kubernetes.io/dockercfg': ['.dockercfg', '.dockercfg'],
};

/** The docker configs in Secrets, and which of these hold none and why. */
export interface SecretDockerConfigs {
  readonly configs: readonly SourcedDockerConfig[];
  readonly problems: readonly string[];
}

/**
 * Decodes the docker configs of Secrets (credentialprovider/secrets MakeDockerKeyring).
 *
 * @throws ConfigError for one that is broken, without repeating any of it.
 */
export function secretDockerConfigs(secrets: readonly Secret[], pod: Pod): SecretDockerConfigs {
  const decoded = secrets.map((secret) => decode(secret, podRef(pod).namespace));
  return {
    configs: decoded.flatMap((each) => ('config' in each ? [each] : [])),
    problems: decoded.flatMap((each) => ('problem' in each ? [each.problem] : [])),
  };
}

function decode(
  {type = 'Opaque', data = {}, metadata}: Secret,
  podNamespace: string,
): SourcedDockerConfig | {readonly problem: string} {
  const {uid = '', namespace = podNamespace, name = ''} = metadata;
  const [key = '', format] = (Object.hasOwn(DOCKER_CONFIG_TYPES, type) && DOCKER_CONFIG_TYPES[type]) || [];
  const content = data[key];
  if (format === undefined || content === undefined || content.length === 0)
    return {
      problem: `the Secret "${namespace}/${name}" of type ${JSON.stringify(type)} holds no docker config`,
    };
  try {
    const config = parseDockerConfig(Buffer.from(content).toString(), format);
    return {config: config ?? new Map(), secret: {uid, namespace, name}};
  } catch (error) {
    throw new ConfigError(`the Secret "${namespace}/${name}": ${messageOf(error)}`);
  }
}
