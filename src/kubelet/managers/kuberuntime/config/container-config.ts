import {isAbsolute} from 'node:path';
import {textToBytes} from '../../../../base/byte-text.js';
import type {ContainerConfig, ContainerId, Device, ImageRef, Init, Mount} from '../../../../cri/index.js';
import type {NodeFacts} from '../../../contract/node-facts.js';
import type {ContainerOptions} from '../../../contract/node-manager.js';
import type {ContainerFiles, IdMapping, MountedVolumes} from '../../../contract/pod-filesystem.js';
import {ContainerConfigError} from './config-errors.js';
import {goQuote} from '../../../../format/go-quote.js';
import {ArgumentLimit} from './env/argument-limit.js';
import {makeEnvironmentVariables, type EnvContext} from './env/environment-variables.js';
import {expandVariables} from '../../../../api/expansion.js';
import type {ImageVolumes} from '../../../contract/volumes/image-volumes.js';
import {containerAnnotations, containerLabels} from './labels.js';
import {replaceResources} from '../../../resources/partial-resources.js';
import {linuxContainerResources} from './resources/linux-resources.js';
import {containerMounts} from './container-mounts.js';
import {containerSecurityContext, verifyRunAsNonRoot, type ImageUser} from './security-context.js';

export type {ImageUser} from './security-context.js';

/** Input of generateContainerConfig. */
export interface ContainerConfigInput extends EnvContext, ContainerFiles {
  /** Handler of the pod's RuntimeClass; the runtime's default handler if undefined. */
  readonly runtimeHandler?: string | undefined;
  /** Number of earlier instances. */
  readonly restartCount: number;
  readonly imageRef: ImageRef;
  readonly imageUser: ImageUser;
  readonly volumes: MountedVolumes;
  readonly imageVolumes?: ImageVolumes | undefined;
  /** ID mapping of the pod's user namespace; undefined with host users. */
  readonly userNamespace?: IdMapping | undefined;
  /** See SecurityContextInput. */
  readonly targetId?: ContainerId | undefined;
  readonly node: NodeFacts;
  /** Options from the managers of the node. */
  readonly granted: ContainerOptions;
}

/**
 * Returns the CRI configuration of a container (kuberuntime generateContainerConfig). The pod must come from toLocalPod
 * or toStaticPod.
 *
 * @throws ContainerConfigError for an invalid reference, volume or user, and for arguments that exceed the limits of a
 * process.
 */
export function generateContainerConfig(input: ContainerConfigInput): Init<ContainerConfig> {
  const {pod, container, restartCount, imageRef, imageUser, node, granted} = input;
  const own = makeEnvironmentVariables(input);
  const given = Object.entries(granted.environment ?? {});
  const variables = given.length === 0 ? own : new Map([...given, ...own]);
  const mounts = [...(granted.mounts ?? []), ...containerMounts({...input, variables})];
  verifyRunAsNonRoot(pod, container, imageUser);
  const limit = new ArgumentLimit(container.name);
  for (const [name, value] of variables) limit.add(`environment variable ${goQuote(name)}`, value);
  const expandAll = (list: string, args: readonly string[] = []): readonly string[] =>
    args.map((arg, index) => limit.expand(`${list}[${index}]`, () => expandVariables(arg, variables)));
  return {
    metadata: {name: container.name, attempt: restartCount},
    image: {image: imageRef, userSpecifiedImage: container.image},
    command: expandAll('command', container.command),
    args: expandAll('args', container.args),
    workingDir: container.workingDir,
    envs: [...variables].map(([key, value]) => ({key, value: textToBytes(value)})),
    mounts: withIdMappings(mounts, input.userNamespace),
    ...devicesOf(granted, blockDevices(input)),
    labels: containerLabels(pod, container.name),
    annotations: {...granted.annotations, ...containerAnnotations(pod, container, restartCount)},
    logPath: `${container.name}/${restartCount}.log`,
    stdin: container.stdin,
    stdinOnce: container.stdinOnce,
    tty: container.tty,
    linux: {
      resources: replaceResources(linuxContainerResources(pod, container, node), granted.resources ?? {}),
      securityContext: containerSecurityContext(input),
    },
  };
}

/** Returns the devices that managers have granted, then those of block volumes (GenerateRunContainerOptions). */
function devicesOf(
  {devices: granted = [], cdiDevices = []}: ContainerOptions,
  ofVolumes: readonly Init<Device>[],
): Pick<Init<ContainerConfig>, 'devices' | 'CDIDevices'> {
  const devices = [...granted, ...ofVolumes];
  return {
    ...(devices.length > 0 && {devices}),
    ...(cdiDevices.length > 0 && {CDIDevices: cdiDevices}),
  };
}

/** Returns the devices of a container's block volumes (makeBlockVolumes). */
function blockDevices({container, volumes}: ContainerConfigInput): readonly Init<Device>[] {
  return (container.volumeDevices ?? []).map(({name, devicePath}) => {
    if (!isAbsolute(devicePath))
      throw new ContainerConfigError(`error DevicePath \`${devicePath}\` must be an absolute path`);
    const volume = volumes.get(name);
    if (volume === undefined)
      throw new ContainerConfigError(
        `cannot find volume "${name}" to pass into container "${container.name}"`,
      );
    const permissions = volume.readOnly ? 'r' : 'mrw';
    return {hostPath: volume.hostPath, containerPath: devicePath, permissions};
  });
}

/** Adds the pod's ID mapping to all mounts (applyPlatformSpecificContainerConfig). */
function withIdMappings(mounts: readonly Init<Mount>[], ids: IdMapping | undefined): readonly Init<Mount>[] {
  return ids === undefined
    ? mounts
    : mounts.map((mount) => ({...mount, uidMappings: [ids], gidMappings: [ids]}));
}
