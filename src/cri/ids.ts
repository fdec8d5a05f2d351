import type {Brand} from '../base/brand.js';

/** The runtime's id of a container: 64 hex digits with every known runtime. */
export type ContainerId = Brand<string, 'ContainerId'>;
/** The runtime's id of a pod sandbox. */
export type PodSandboxId = Brand<string, 'PodSandboxId'>;
/** The Pod's `metadata.uid`. */
export type PodUid = Brand<string, 'PodUid'>;
/** What a runtime's image store calls an image: `sha256:…` with containerd. */
export type ImageId = Brand<string, 'ImageId'>;
/** What PullImage returns and a container's image is pinned to: an image id or a digested name. */
export type ImageRef = Brand<string, 'ImageRef'>;

export const containerId = (raw: string): ContainerId => raw as ContainerId;
export const podSandboxId = (raw: string): PodSandboxId => raw as PodSandboxId;
export const podUid = (raw: string): PodUid => raw as PodUid;
export const imageId = (raw: string): ImageId => raw as ImageId;
export const imageRef = (raw: string): ImageRef => raw as ImageRef;
