import type {Container, ContainerPort, EnvVar, Pod, PodSpec} from '../../api/types/v1-pod.js';
import {findByName} from '../../base/by-name.js';
import {ConfigError} from '../../base/errors.js';
import {omit} from '../../base/omit.js';
import {profileSecurityContext, type DebugProfile} from './debug-profiles.js';

/** Changes of a copy of a pod. */
export interface PodCopyOptions {
  /** Name of the copy. */
  readonly name: string;
  /** Container to change, or to add with `image`; by default the first, or a new one with an image. */
  readonly container: string | undefined;
  /** Name of a new container without a name. */
  readonly newName: string;
  readonly image: string | undefined;
  /** Images of containers by name; `*` stands for all. */
  readonly images: ReadonlyMap<string, string>;
  /** Command of the container; empty to leave it. */
  readonly words: readonly string[];
  readonly environment: ReadonlyMap<string, string>;
  readonly profile: DebugProfile;
  readonly sharesProcesses: boolean;
  readonly stdin: boolean;
  readonly tty: boolean;
  /** True to keep the ports of the host, because the original is deleted. */
  readonly keepsHostPorts: boolean;
}

/** Copy of a pod and the container in it to connect to. */
export interface PodCopy {
  readonly pod: Pod;
  readonly container: string;
  readonly notes: readonly string[];
}

/**
 * Returns a copy of a pod for debugging, as `kubectl debug --copy-to` makes it: without labels, annotations and probes,
 * and with another command, image or container. Throws ConfigError for an unknown container.
 */
export function copyPod(original: Pod, options: PodCopyOptions): PodCopy {
  const {name: originalName = '', namespace} = original.metadata;
  const {containers: own, initContainers, ...rest} = omit(original.spec, 'ephemeralContainers', 'nodeName');
  checkImages([...own, ...(initContainers ?? [])], options);
  const notes: string[] = [];
  const prepare = (container: Container): Container => prepareContainer(container, options, notes);
  const {name, containers} = changeContainers(originalName, own.map(prepare), options);
  const spec: PodSpec = {
    ...rest,
    containers,
    ...(initContainers !== undefined && {initContainers: initContainers.map(prepare)}),
    ...(options.sharesProcesses && rest.hostPID !== true && {shareProcessNamespace: true}),
  };
  const metadata = {name: options.name, ...(namespace !== undefined && {namespace})};
  return {pod: {apiVersion: 'v1', kind: 'Pod', metadata, spec}, container: name, notes};
}

/** Returns a container without probes and ports of the host, with its other image if there is one. */
function prepareContainer(container: Container, options: PodCopyOptions, notes: string[]): Container {
  const ports = container.ports?.map((port) => withoutHostPort(port, options, notes));
  const image = options.images.get(container.name) ?? options.images.get('*');
  return {
    ...omit(container, 'livenessProbe', 'readinessProbe', 'startupProbe'),
    ...(image !== undefined && {image}),
    ...(ports !== undefined && {ports}),
  };
}

/** Changes the chosen container or adds it. Throws ConfigError if it does not exist and has no image. */
function changeContainers(
  podName: string,
  containers: readonly Container[],
  options: PodCopyOptions,
): {readonly name: string; readonly containers: readonly Container[]} {
  const {image, newName} = options;
  const name = options.container ?? (image === undefined ? (containers[0]?.name ?? '') : newName);
  const existing = findByName(containers, name);
  if (existing !== undefined) {
    const changed = changeContainer(existing, options);
    return {name, containers: containers.map((each) => (each === existing ? changed : each))};
  }
  if (image !== undefined)
    return {name, containers: [...containers, changeContainer({name, image}, options)]};
  throw new ConfigError(`pod "${podName}" has no container "${name}"`, {
    hint: `its containers are ${containers.map((container) => container.name).join(', ')}; --image adds one`,
  });
}

function checkImages(containers: readonly Container[], {images}: PodCopyOptions): void {
  for (const name of images.keys())
    if (name !== '*' && findByName(containers, name) === undefined)
      throw new ConfigError(`--set-image: no container "${name}"`, {
        hint: `the containers are ${containers.map((container) => container.name).join(', ')}`,
      });
}

function withoutHostPort(port: ContainerPort, options: PodCopyOptions, notes: string[]): ContainerPort {
  if (port.hostPort === undefined || options.keepsHostPorts) return port;
  notes.push(`port ${port.hostPort} of the host is left to the original pod; --replace takes it over`);
  return omit(port, 'hostPort', 'hostIP');
}

function changeContainer(container: Container, options: PodCopyOptions): Container {
  const {image, words, environment, profile, stdin, tty} = options;
  const env: EnvVar[] = [
    ...(container.env ?? []).filter(({name}) => !environment.has(name)),
    ...[...environment].map(([name, value]) => ({name, value})),
  ];
  return {
    ...(words.length > 0 ? omit(container, 'args') : container),
    ...(image !== undefined && {image}),
    ...(words.length > 0 && {command: words}),
    ...(env.length > 0 && {env}),
    ...(stdin && {stdin, stdinOnce: true}),
    ...(tty && {tty}),
    securityContext: {...container.securityContext, ...profileSecurityContext(profile)},
  };
}
