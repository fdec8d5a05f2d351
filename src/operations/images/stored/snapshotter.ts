import type {ImageService} from '../../../cri/index.js';
import type {ContainerdServices} from '../../../containerd/connect-containerd.js';

/** Directory of a snapshotter below containerd's root, as the CRI reports it for images. */
const SNAPSHOTTER_DIRECTORY = /\/io\.containerd\.snapshotter\.v1\.([\w-]+)\/?$/;
const DEFAULT_SNAPSHOTTER = 'overlayfs';

/** Returns the snapshotter into which the CRI plugin unpacks images, by the directory that it reports. Rejects with CriError. */
export async function findSnapshotter(
  images: ImageService,
  {introspection}: Pick<ContainerdServices, 'introspection'>,
  signal: AbortSignal,
): Promise<string> {
  const {imageFilesystems} = await images.imageFsInfo({}, {signal});
  const directory = imageFilesystems[0]?.fsId?.mountpoint ?? '';
  const named = SNAPSHOTTER_DIRECTORY.exec(directory)?.[1];
  if (named !== undefined) return named;
  // A snapshotter outside of containerd, such as stargz, has a directory of its own.
  const filters = ['type==io.containerd.snapshotter.v1'];
  const {plugins} = await introspection.plugins({filters}, {signal});
  return plugins.find(({exports}) => exports['root'] === directory)?.id ?? DEFAULT_SNAPSHOTTER;
}
