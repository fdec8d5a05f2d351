import type {Brand} from '../base/brand.js';

/** The runtime's ID of a container: 64 hexadecimal digits with all known runtimes. */
export type ContainerId = Brand<string, 'ContainerId'>;
/** The runtime's ID of a PodSandbox. */
export type PodSandboxId = Brand<string, 'PodSandboxId'>;
/** A Pod's `metadata.uid`. */
export type PodUid = Brand<string, 'PodUid'>;
/** ID of an image in the runtime's image store: `sha256:…` with containerd. */
export type ImageId = Brand<string, 'ImageId'>;
/** Result of PullImage, to which a container's image is pinned: an image ID or a name with digest. */
export type ImageRef = Brand<string, 'ImageRef'>;

/** Marks a string as a container ID; does not validate it. */
export const containerId = (raw: string): ContainerId => raw as ContainerId;
/** Marks a string as a PodSandbox ID; does not validate it. */
export const podSandboxId = (raw: string): PodSandboxId => raw as PodSandboxId;
/** Marks a string as a Pod UID; does not validate it. */
export const podUid = (raw: string): PodUid => raw as PodUid;
/** Marks a string as an image ID; does not validate it. */
export const imageId = (raw: string): ImageId => raw as ImageId;
/** Marks a string as an image reference; does not validate it. */
export const imageRef = (raw: string): ImageRef => raw as ImageRef;
