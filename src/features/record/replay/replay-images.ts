import {KcriError, SystemError} from '../../../base/errors.js';
import type {Connection} from '../../../cri/index.js';
import type {NeededImage} from '../../../recording/replay/needed-images.js';
import type {ValueMap} from '../../../recording/replay/value-map.js';

/** Images of a runtime, and which of them a replay has pulled. */
export class ReplayImages {
  readonly #images: Connection['images'];
  /** IDs of the images that were there before. */
  readonly #before: ReadonlySet<string>;
  readonly #pulled: string[] = [];

  private constructor(images: Connection['images'], before: ReadonlySet<string>) {
    this.#images = images;
    this.#before = before;
  }

  /** Remembers which images there are. Rejects with CriError. */
  static async open(images: Connection['images'], signal: AbortSignal): Promise<ReplayImages> {
    const {images: present} = await images.listImages({}, {signal});
    return new ReplayImages(images, new Set(present.map(({id}) => id)));
  }

  /**
   * Pulls the images that the runtime lacks and the recording does not pull, and learns the IDs of those that are there.
   * Rejects with SystemError if one cannot be pulled.
   */
  async prepare(needed: readonly NeededImage[], values: ValueMap, signal: AbortSignal): Promise<void> {
    for (const {reference, name, isPulled} of needed) {
      const {image: present} = await this.#images.imageStatus({image: {image: name}}, {signal});
      if (present === undefined) this.#pulled.push(name);
      if (present === undefined && isPulled) continue;
      const id = present?.id ?? (await this.#pull(name, signal));
      if (reference !== name) values.set(reference, id);
    }
  }

  async #pull(name: string, signal: AbortSignal): Promise<string> {
    try {
      return (await this.#images.pullImage({image: {image: name}}, {signal})).imageRef;
    } catch (error) {
      if (!(error instanceof KcriError) || signal.aborted) throw error;
      throw new SystemError(
        `cannot replay: the image "${name}" is not on this runtime, and pulling it failed`,
        {
          cause: error,
          hint: `load it first, or pull it with its credentials: "kcri pull ${name}"`,
        },
      );
    }
  }

  /** Reports whether an image is there and was not before the replay, under any name. Rejects with CriError. */
  async isOwn(image: string): Promise<boolean> {
    const {image: found} = await this.#images.imageStatus({image: {image}});
    return found !== undefined && !this.#before.has(found.id);
  }

  /** Images that the replay may have pulled. */
  get pulled(): readonly string[] {
    return this.#pulled;
  }

  /** Removes an image, unless it is not there or was there before the replay. Rejects with CriError. */
  async remove(image: string): Promise<void> {
    if (await this.isOwn(image)) await this.#images.removeImage({image: {image}});
  }
}
