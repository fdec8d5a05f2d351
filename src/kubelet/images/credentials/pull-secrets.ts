import type {Secret} from '../../../api/v1-objects.js';
import type {Pod} from '../../../api/v1.js';
import {ConfigError, messageOf} from '../../../base/errors.js';
import type {ApiObjects} from '../../container/api-objects.js';
import type {EventSink} from '../../container/events.js';
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

/** Tells of the pod's pull secrets that aren't there: the image may be for everybody, or here already. */
export function tellMissingPullSecrets(pod: Pod, objects: ApiObjects, events: EventSink): void {
  const {missing} = findPullSecrets(pod, objects);
  if (missing.length === 0) return;
  const message = `Unable to retrieve some image pull secrets (${missing.join(', ')}); attempting to pull the image may not succeed.`;
  events({type: 'Warning', reason: 'FailedToRetrieveImagePullSecret', message, pod});
}

/** The types of Secrets that hold docker configs, under which key, and how they are written. */
const DOCKER_CONFIG_TYPES: ReadonlyMap<string, {readonly key: string; readonly format: DockerConfigFormat}> =
  new Map([
    ['kubernetes.io/dockerconfigjson', {key: '.dockerconfigjson', format: 'config.json'}],
    ['kubernetes.io/dockercfg', {key: '.dockercfg', format: '.dockercfg'}],
  ]);

/** The docker configs in Secrets, and why there are none in others. */
export interface SecretDockerConfigs {
  readonly configs: readonly SourcedDockerConfig[];
  readonly problems: readonly string[];
}

/**
 * Decodes the docker configs of a pod's Secrets (credentialprovider/secrets MakeDockerKeyring).
 *
 * @throws ConfigError for one that is broken, without repeating any of it.
 */
export function secretDockerConfigs({secrets, missing}: PullSecrets, pod: Pod): SecretDockerConfigs {
  const {namespace} = podRef(pod);
  const decoded = secrets.map((secret) => decode(secret, namespace));
  return {
    configs: decoded.flatMap((each) => ('config' in each ? [each] : [])),
    problems: [
      ...decoded.flatMap((each) => ('problem' in each ? [each.problem] : [])),
      ...missing.map((name) => `the Secret "${namespace}/${name}" did not come with the Pod's manifests`),
    ],
  };
}

function decode(secret: Secret, podNamespace: string): SourcedDockerConfig | {readonly problem: string} {
  const {type = 'Opaque', metadata} = secret;
  const {uid = '', namespace = podNamespace, name = ''} = metadata;
  const title = `the Secret "${namespace}/${name}"`;
  const {text, format} = heldIn(secret);
  if (text === '') return {problem: `${title} of type ${JSON.stringify(type)} holds no docker config`};
  try {
    return {config: parseDockerConfig(text, format) ?? new Map(), secret: {uid, namespace, name}};
  } catch (error) {
    throw new ConfigError(`${title}: ${messageOf(error)}`);
  }
}

/** A Secret's docker config as it is written; empty when there is none. */
function heldIn({type = '', data = {}}: Secret): {
  readonly text: string;
  readonly format: DockerConfigFormat;
} {
  const {key = '', format = 'config.json'} = DOCKER_CONFIG_TYPES.get(type) ?? {};
  return {text: Buffer.from(data[key] ?? []).toString(), format};
}
