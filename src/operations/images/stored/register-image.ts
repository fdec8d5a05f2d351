import {SystemError} from '../../../base/errors.js';
import type {ContainerdServices} from '../../../containerd/connect-containerd.js';
import type {Descriptor} from '../../../containerd/gen/types.js';
import {CriError, type Image} from '../../../cri/index.js';
import type {ImageRuntime} from './image-runtime.js';

/** Label that containerd's CRI plugin gives to the images that it manages (pkg/cri/labels). */
const MANAGED = {'io.cri-containerd.image': 'managed'};

/** Result of registerImage. */
export interface Registration {
  /** Digest that the name had before; undefined if the name is new. */
  readonly before: string | undefined;
}

/** Creates a name for content of containerd's store, or moves it there. Rejects with KcriError. */
export async function registerImage(
  {images}: Pick<ContainerdServices, 'images'>,
  name: string,
  target: Descriptor,
  signal: AbortSignal,
): Promise<Registration> {
  const image = {name, target, labels: MANAGED};
  try {
    await images.create({image}, {signal});
    return {before: undefined};
  } catch (error) {
    if (!(error instanceof CriError && error.grpcCode === 'ALREADY_EXISTS')) throw error;
  }
  const {image: known} = await images.get({name}, {signal});
  const labels = {...known?.labels, ...MANAGED};
  await images.update({image: {...image, labels}, updateMask: {paths: ['target', 'labels']}}, {signal});
  return {before: known?.target?.digest};
}

const POLL_MS = 50;
const MAX_WAIT_MS = 10_000;

/**
 * Waits until the CRI shows what containerd knows: its CRI plugin learns of new names by an event. `isShown` receives the
 * image of that name. Rejects with SystemError after ten seconds.
 */
export async function untilCriShows(
  {cri, clock, signal}: Pick<ImageRuntime, 'cri' | 'clock' | 'signal'>,
  name: string,
  isShown: (image: Image | undefined) => boolean,
): Promise<void> {
  const endsAt = clock.monotonic() + MAX_WAIT_MS;
  for (;;) {
    const {image} = await cri.images.imageStatus({image: {image: name}}, {signal});
    if (isShown(image)) return;
    if (clock.monotonic() >= endsAt) break;
    await clock.sleep(POLL_MS, signal);
  }
  throw new SystemError(`containerd has changed the image "${name}", but its CRI plugin has not noticed`, {
    hint: 'see the log of containerd; the image may be for another platform than this machine',
  });
}
