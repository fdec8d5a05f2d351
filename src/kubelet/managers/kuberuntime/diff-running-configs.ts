import {allContainersOf, isRestartableInitContainer} from '../../../api/pod-containers.js';
import type {Container, Pod, VolumeMount} from '../../../api/types/v1-pod.js';
import type {Volume} from '../../../api/types/v1-volumes.js';
import {findByName} from '../../../base/by-name.js';
import {KcriError} from '../../../base/errors.js';
import type {ContainerConfig, ImageRef, Init, PodSandboxConfig} from '../../../cri/index.js';
import {computeFieldChanges, type FieldChange} from '../../sources/field-changes.js';
import type {Json} from '../../../format/json.js';
import type {ApiObjects} from '../../contract/api-objects.js';
import type {NodeFacts} from '../../contract/node-facts.js';
import type {MountedVolume} from '../../contract/pod-filesystem.js';
import {podRef} from '../../contract/pod-ref.js';
import {absoluteContainerPath} from './config/container-mounts.js';
import {generateContainerConfig, type ImageUser} from './config/container-config.js';
import {computePodIps} from './config/pod-addresses.js';
import {generatePodSandboxConfig} from './config/sandbox-config.js';
import {toComparableConfig} from './config/sent-config.js';
import type {RunningConfigs} from './running-config.js';

/** Differences between the present config of a sandbox or container and another one. */
export interface ConfigDiff {
  /** `sandbox` or `container "web"`. */
  readonly target: string;
  readonly changes: readonly FieldChange[];
}

/** Facts on which the config of a container depends besides its pod. */
export interface ConfigContext {
  readonly node: NodeFacts;
  readonly objects: ApiObjects;
}

/**
 * Returns the differences between the running sandbox and containers of a pod and those that the pod would have. What does not
 * follow from the pod, such as addresses and the random names of files, is taken from the running ones. `pod` must have the UID of
 * the running pod. A config that the runtime does not report is a difference, since nothing is known of it.
 */
export function diffRunningConfigs(
  pod: Pod,
  running: RunningConfigs,
  context: ConfigContext,
): readonly ConfigDiff[] {
  const diffs = [diffSandbox(pod, running, context)];
  for (const container of allContainersOf(pod)) {
    const {name} = container;
    const sent = running.containers.get(name);
    if (sent !== undefined || !isGoneByDesign(pod, name))
      diffs.push({
        target: `container "${name}"`,
        changes: diffContainer({pod, container, ips: running.status.ips}, sent as SentContainer, context),
      });
  }
  const known = new Set(allContainersOf(pod).map(({name}) => name));
  for (const name of running.containers.keys())
    if (!known.has(name)) diffs.push({target: `container "${name}"`, changes: [{path: '', before: name}]});
  return diffs.filter(({changes}) => changes.length > 0);
}

/** Reports whether the container GC may have removed the container: an init container that has done its work. */
function isGoneByDesign({spec: {initContainers = []}}: Pod, name: string): boolean {
  const container = findByName(initContainers, name);
  return container !== undefined && !isRestartableInitContainer(container);
}

/** Fields that follow from the node or a later kubelet and not from the pod, and those of managers of the node's resources. */
const OF_NODE =
  /^(?:dns_config|devices|CDI_devices|image\.(?!user_specified_image)|linux\.resources\.(?:cpuset|hugepage|memory_swap|unified)|linux\.security_context\.(?:masked|readonly)_paths|mounts\[[^\]]*\]\.selinux_relabel)|\[kubernetes\.io\/config\.seen\]/;

const NOT_REPORTED: readonly FieldChange[] = [{path: 'config (not reported by the runtime)'}];

function computeOwnChanges(before: Json, after: Json): readonly FieldChange[] {
  // Older runtimes drop the image of the user, which the hash of the container covers.
  return computeFieldChanges(before, after).filter(
    ({path, before: old}) =>
      !OF_NODE.test(path) && (path !== 'image.user_specified_image' || old !== undefined),
  );
}

function diffSandbox(pod: Pod, {status, sandbox}: RunningConfigs, {node}: ConfigContext): ConfigDiff {
  const target = 'sandbox';
  if (sandbox === undefined) return {target, changes: NOT_REPORTED};
  const attempt = status.sandboxes[0]?.metadata?.attempt ?? 0;
  const config = tryGenerate(() => generatePodSandboxConfig(pod, {...node, resolvConf: undefined}, attempt));
  return {target, changes: changesTo('PodSandboxConfig', sandbox, config)};
}

/** Values of a sent config from which another one is generated. */
interface SentContainer {
  readonly metadata?: {readonly attempt?: number};
  readonly image?: {readonly image?: string};
  readonly envs?: readonly {readonly key: string; readonly value?: string}[];
  readonly mounts?: readonly {readonly container_path?: string; readonly host_path?: string}[];
  readonly linux?: {
    readonly security_context?: {
      readonly run_as_user?: {readonly value?: string | number};
      readonly run_as_username?: string;
    };
  };
}

function diffContainer(
  {pod, container, ips}: {readonly pod: Pod; readonly container: Container; readonly ips: readonly string[]},
  sent: SentContainer | undefined,
  {node, objects}: ConfigContext,
): readonly FieldChange[] {
  if (sent === undefined) return NOT_REPORTED;
  const config = tryGenerate(() =>
    generateContainerConfig({
      pod,
      container,
      node,
      restartCount: sent.metadata?.attempt ?? 0,
      imageRef: (sent.image?.image ?? '') as ImageRef,
      imageUser: imageUserOf(sent),
      podIps: computePodIps(pod, ips, node),
      objects: {...objects, serviceVariables: () => serviceVariablesOf(sent)},
      envFiles: new Map(),
      granted: {},
      ...mountedFiles(pod, container, sent),
    }),
  );
  return changesTo('ContainerConfig', sent as Json, config);
}

/** Returns the differences from a generated config, or the error that kept it from being generated. */
function changesTo(
  name: 'PodSandboxConfig' | 'ContainerConfig',
  sent: Json,
  config: Init<PodSandboxConfig> | Init<ContainerConfig> | KcriError,
): readonly FieldChange[] {
  if (config instanceof KcriError) return [{path: `config (${config.message})`}];
  return computeOwnChanges(sent, toComparableConfig(name, config));
}

function tryGenerate<T>(generate: () => T): T | KcriError {
  try {
    return generate();
  } catch (error) {
    if (error instanceof KcriError) return error;
    throw error;
  }
}

function imageUserOf({linux}: SentContainer): ImageUser {
  const {run_as_user: user, run_as_username: username = ''} = linux?.security_context ?? {};
  return username === '' ? {uid: BigInt(user?.value ?? 0)} : {username};
}

/** Names of the variables of a Service (envvars.FromServices). */
const OF_SERVICE =
  /^[A-Z][A-Z0-9_]*_(?:SERVICE_HOST|SERVICE_PORT(?:_[A-Z0-9_]+)?|PORT(?:_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)?)$/;

function serviceVariablesOf({envs = []}: SentContainer): ReadonlyMap<string, string> {
  return new Map(envs.flatMap(({key, value = ''}) => (OF_SERVICE.test(key) ? [[key, value] as const] : [])));
}

type Files = Pick<
  Parameters<typeof generateContainerConfig>[0],
  'volumes' | 'hostsPath' | 'terminationLogPath' | 'subPathTargets'
>;

/** Returns the files of a container: those that are mounted, where they are of the kind that the pod asks for. */
function mountedFiles(pod: Pod, container: Container, {mounts = []}: SentContainer): Files {
  const {volumeMounts = [], terminationMessagePath = '/dev/termination-log', name} = container;
  const own = `/pods/${podRef(pod).uid}/`;
  const hostPathAt = (containerPath: string, ...expected: readonly string[]): string | undefined => {
    const found = mounts.find(({container_path: path}) => path === absoluteContainerPath(containerPath));
    const {host_path: path = ''} = found ?? {};
    const at = path.indexOf(own);
    return at !== -1 && hasSegments(path.slice(at + own.length), expected) ? path : undefined;
  };
  const targets = volumeMounts.flatMap((mount, index) => {
    const subPath = ['volume-subpaths', mount.name, name, String(index)];
    return hasSubPath(mount) ? [[index, hostPathAt(mount.mountPath, ...subPath) ?? ''] as const] : [];
  });
  const volumes = (pod.spec.volumes ?? []).map((volume): readonly [string, MountedVolume] => {
    const paths = volumeMounts
      .filter((mount) => mount.name === volume.name)
      .map(({mountPath}) => hostPathAt(mountPath, 'volumes', ANY, volume.name));
    const hostPath = volume.hostPath?.path ?? paths.find((path) => path !== undefined) ?? '';
    return [volume.name, {hostPath, readOnly: isReadOnly(volume)}];
  });
  return {
    volumes: new Map(volumes),
    subPathTargets: new Map(targets),
    hostsPath: hostPathAt('/etc/hosts', 'etc-hosts'),
    terminationLogPath: hostPathAt(terminationMessagePath, 'containers', name, ANY) ?? '',
  };
}

function hasSubPath({subPath = '', subPathExpr = ''}: VolumeMount): boolean {
  return subPath !== '' || subPathExpr !== '';
}

function isReadOnly({configMap, secret, downwardAPI, projected, persistentVolumeClaim}: Volume): boolean {
  const isApiData = [configMap, secret, downwardAPI, projected].some((source) => source !== undefined);
  return isApiData || persistentVolumeClaim?.readOnly === true;
}

const ANY = '*';

/** Reports whether a path has these segments; ANY stands for one. */
function hasSegments(path: string, expected: readonly string[]): boolean {
  const segments = path.split('/');
  return (
    segments.length === expected.length &&
    expected.every((segment, index) => segment === ANY || segment === segments[index])
  );
}
