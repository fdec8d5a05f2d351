import type {ContainerId, ImageService, PodSandboxId} from '../../cri/index.js';
import type {Target} from './target.js';

/** Options of the resolve functions. */
export interface ResolveOptions {
  readonly signal: AbortSignal;
  /** Command that takes the references; errors name its counterpart for the other kind of object. */
  readonly command?: string;
  /** Looks up full IDs too, for calls that succeed without the object. Default false. */
  readonly verify?: boolean;
  /**
   * Looks up a full ID as any other reference if the runtime does not know it. By default this is done if `chooseContainer`
   * is set; otherwise only objects of the other kind are recognized.
   */
  readonly looksUpUnknown?: boolean;
  /** Resolves a name to the newest attempt of a container or pod. Default true. */
  readonly newestAttempt?: boolean;
  /** Image service to also match images by, for references that match no container. */
  readonly images?: ImageService;
  /** Chooses a container of a pod, for references that match a pod but no container. */
  readonly chooseContainer?: ContainerChooser;
  /** Takes every reference for an ID and lets the runtime check it, as crictl does. Default false. */
  readonly literal?: boolean;
}

/**
 * Returns a container of a pod as the target of the reference, or the error that there is none. `quiet` omits the note
 * about a choice that was not obvious.
 */
export type ContainerChooser = (
  ref: string,
  pod: PodSandboxId,
  options?: {readonly quiet: boolean},
) => Promise<Target<ContainerId>>;
