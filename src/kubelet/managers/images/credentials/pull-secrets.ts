import type {Secret} from '../../../../api/types/v1-objects.js';
import type {Pod} from '../../../../api/types/v1-pod.js';
import {ConfigError, messageOf, rethrowUnexpected} from '../../../../base/errors.js';
import type {ApiObjects} from '../../../contract/api-objects.js';
import type {EventSink} from '../../../contract/pod-event.js';
import {podRef} from '../../../contract/pod-ref.js';
import {parseDockerConfig, type DockerConfigFormat} from './docker-config.js';
import type {SourcedDockerConfig} from './keyring.js';

/** Pull secrets of a pod. */
export interface PullSecrets {
  readonly secrets: readonly Secret[];
  /** Names of the Secrets that do not exist. */
  readonly missing: readonly string[];
}

/** ServiceAccount of pods that name none. */
const DEFAULT_SERVICE_ACCOUNT = 'default';

/**
 * Returns the Secrets of the pod's imagePullSecrets or, if it has none, of its ServiceAccount's, which the API server's
 * admission would add (kubelet getPullSecretsForPod).
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

/** Records an event for missing pull secrets. They are not a failure, because the image may be public or present. */
export function reportMissingPullSecrets(pod: Pod, objects: ApiObjects, events: EventSink): void {
  const {missing} = findPullSecrets(pod, objects);
  if (missing.length === 0) return;
  const message = `Unable to retrieve some image pull secrets (${missing.join(', ')}); attempting to pull the image may not succeed.`;
  events({type: 'Warning', reason: 'FailedToRetrieveImagePullSecret', message, pod});
}

/** Secret types that hold docker configs, with the key and format of the config. */
const DOCKER_CONFIG_TYPES: ReadonlyMap<string, {readonly key: string; readonly format: DockerConfigFormat}> =
  new Map([
    ['kubernetes.io/dockerconfigjson', {key: '.dockerconfigjson', format: 'config.json'}],
    ['kubernetes.io/dockercfg', {key: '.dockercfg', format: '.dockercfg'}],
  ]);

/** Docker configs of Secrets, and problems with Secrets that have none. */
export interface SecretDockerConfigs {
  readonly configs: readonly SourcedDockerConfig[];
  readonly problems: readonly string[];
}

/**
 * Decodes the docker configs of a pod's Secrets (credentialprovider/secrets MakeDockerKeyring).
 *
 * @throws ConfigError for an invalid config; its message contains nothing of the config.
 */
export function decodeDockerConfigs({secrets, missing}: PullSecrets, pod: Pod): SecretDockerConfigs {
  const {namespace} = podRef(pod);
  const decoded = secrets.map((secret) => decode(secret, namespace));
  return {
    configs: decoded.flatMap((each) => ('config' in each ? [each] : [])),
    problems: [
      ...decoded.flatMap((each) => ('problem' in each ? [each.problem] : [])),
      ...missing.map((name) => `the Secret "${namespace}/${name}" is not in the pod's manifests`),
    ],
  };
}

function decode(secret: Secret, podNamespace: string): SourcedDockerConfig | {readonly problem: string} {
  const {type = 'Opaque', metadata} = secret;
  const {uid = '', namespace = podNamespace, name = ''} = metadata;
  const title = `the Secret "${namespace}/${name}"`;
  const {text, format} = dockerConfigOf(secret);
  if (text === '') return {problem: `${title} of type ${JSON.stringify(type)} contains no docker config`};
  try {
    return {config: parseDockerConfig(text, format) ?? new Map(), secret: {uid, namespace, name}};
  } catch (error) {
    rethrowUnexpected(error);
    throw new ConfigError(`${title}: ${messageOf(error)}`);
  }
}

/** Returns the text of a Secret's docker config; empty without one. */
function dockerConfigOf({type = '', data = {}}: Secret): {
  readonly text: string;
  readonly format: DockerConfigFormat;
} {
  const {key = '', format = 'config.json'} = DOCKER_CONFIG_TYPES.get(type) ?? {};
  return {text: Buffer.from(data[key] ?? []).toString(), format};
}
