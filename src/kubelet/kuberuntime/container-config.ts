import {textToBytes} from '../../base/byte-text.js';
import type {ContainerConfig, ImageRef, Init, Mount} from '../../cri/index.js';
import type {NodeFacts} from '../container/node.js';
import type {ContainerFiles, IdMapping, MountedVolumes} from '../container/pod-filesystem.js';
import {environment, type EnvContext} from './env.js';
import {expand} from '../../api/expansion.js';
import type {ImageVolumes} from './image-volumes.js';
import {containerAnnotations, containerLabels} from './labels.js';
import {containerResources} from './linux-resources.js';
import {containerMounts} from './mounts.js';
import {containerSecurityContext, verifyRunAsNonRoot, type ImageUser} from './security-context.js';

export type {ImageUser} from './security-context.js';

/** All that a container's configuration is made from. */
export interface ContainerConfigInput extends EnvContext, ContainerFiles {
  /** Of the pod's RuntimeClass; the usual one by default. */
  readonly runtimeHandler?: string | undefined;
  /** How many instances were before this one. */
  readonly restartCount: number;
  readonly imageRef: ImageRef;
  readonly imageUser: ImageUser;
  readonly volumes: MountedVolumes;
  readonly imageVolumes?: ImageVolumes | undefined;
  /** The pod's own ids; absent when its users are the node's. */
  readonly userNamespace?: IdMapping | undefined;
  readonly node: NodeFacts;
}

/**
 * What the runtime is told of a container (kuberuntime generateContainerConfig). The pod went through toLocalPod or
 * toStaticPod.
 *
 * @throws ContainerConfigError for a reference, volume or user that doesn't do; the kubelet's
 * CreateContainerConfigError.
 */
export function containerConfig(input: ContainerConfigInput): Init<ContainerConfig> {
  const {pod, container, restartCount, imageRef, imageUser, node} = input;
  const variables = environment(input);
  const mounts = mapIds(containerMounts({...input, variables}), input.userNamespace);
  verifyRunAsNonRoot(pod, container, imageUser);
  const expanded = (words: readonly string[] = []): readonly string[] =>
    words.map((word) => expand(word, variables));
  return {
    metadata: {name: container.name, attempt: restartCount},
    image: {image: imageRef, userSpecifiedImage: container.image},
    command: expanded(container.command),
    args: expanded(container.args),
    workingDir: container.workingDir,
    envs: [...variables].map(([key, value]) => ({key, value: textToBytes(value)})),
    mounts,
    labels: containerLabels(pod, container.name),
    annotations: containerAnnotations(pod, container, restartCount),
    logPath: `${container.name}/${restartCount}.log`,
    stdin: container.stdin,
    stdinOnce: container.stdinOnce,
    tty: container.tty,
    linux: {
      resources: containerResources(pod, container, node),
      securityContext: containerSecurityContext(input),
    },
  };
}

/** What belongs to the node's root belongs to the pod's in all that is mounted (applyPlatformSpecificContainerConfig). */
function mapIds(mounts: readonly Init<Mount>[], ids: IdMapping | undefined): readonly Init<Mount>[] {
  return ids === undefined
    ? mounts
    : mounts.map((mount) => ({...mount, uidMappings: [ids], gidMappings: [ids]}));
}
