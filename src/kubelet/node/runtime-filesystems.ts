import {stat} from 'node:fs/promises';
import {isSystemCallError} from '../../base/errors.js';
import type {ImageService} from '../../cri/index.js';
import type {NodeFacts} from '../contract/node-facts.js';
import type {FilesystemLayout} from '../contract/resources/node-signals.js';

/** Filesystems of the runtime by their mount points; undefined if the runtime does not report them. */
export interface RuntimeFilesystems {
  readonly imageFs: string | undefined;
  readonly containerFs: string | undefined;
  readonly layout: FilesystemLayout;
}

/** Options of {@link RuntimeFilesystemReader}. */
export interface RuntimeFilesystemOptions {
  readonly node: Pick<NodeFacts, 'rootDir'>;
  readonly images: Pick<ImageService, 'imageFsInfo'>;
}

/** Reads where the runtime has its images and containers. */
export class RuntimeFilesystemReader {
  readonly #options: RuntimeFilesystemOptions;
  /** Asked for until the runtime reports them: it does not move its files while it runs. */
  #known: RuntimeFilesystems | undefined;

  constructor(options: RuntimeFilesystemOptions) {
    this.#options = options;
  }

  /** Resolves with the filesystems. Rejects with CriError or the signal's reason. */
  async read(signal?: AbortSignal): Promise<RuntimeFilesystems> {
    const filesystems = this.#known ?? (await this.#find(signal));
    if (filesystems.imageFs !== undefined) this.#known = filesystems;
    return filesystems;
  }

  async #find(signal: AbortSignal | undefined): Promise<RuntimeFilesystems> {
    const {node, images} = this.#options;
    const {imageFilesystems, containerFilesystems} = await images.imageFsInfo({}, signal && {signal});
    const imageFs = imageFilesystems[0]?.fsId?.mountpoint;
    const containerFs = containerFilesystems[0]?.fsId?.mountpoint ?? imageFs;
    const [root, image, container] = await Promise.all([node.rootDir, imageFs, containerFs].map(deviceOf));
    const layout = {
      dedicatedImageFs: image !== undefined && image !== root,
      splitContainerFs: container !== undefined && image !== undefined && container !== image,
    };
    return {imageFs, containerFs, layout};
  }
}

/** Returns the device of a path; undefined if it does not exist here, as for a runtime in another mount namespace. */
async function deviceOf(path: string | undefined): Promise<bigint | undefined> {
  if (path === undefined) return undefined;
  try {
    return (await stat(path, {bigint: true})).dev;
  } catch (error) {
    if (isSystemCallError(error)) return undefined;
    throw error;
  }
}
