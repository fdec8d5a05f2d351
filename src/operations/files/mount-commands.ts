/** Mount of a root filesystem, as in an OCI runtime spec. */
export interface RootMount {
  readonly type: string;
  readonly source: string;
  readonly options: readonly string[];
}

/** Arguments of mount(8). */
export interface MountCommand extends RootMount {
  /** Directory to which paths in the options are relative: the kernel limits the length of options. */
  readonly directory: string;
}

/** Layers of an overlay, uppermost first. */
export interface OverlayLayers {
  readonly upper: string | undefined;
  readonly lowers: readonly string[];
}

/** Returns the layers of an overlay; undefined for any other filesystem. */
export function overlayLayers({type, options}: RootMount): OverlayLayers | undefined {
  if (type !== 'overlay') return undefined;
  const valueOf = (key: string): string | undefined =>
    options.find((option) => option.startsWith(`${key}=`))?.slice(key.length + 1);
  // A colon in a path is escaped with a backslash.
  const lowers = valueOf('lowerdir')?.split(/(?<!\\):/) ?? [];
  return {upper: valueOf('upperdir'), lowers};
}

/** Reports whether the runtime maps owners when it mounts the filesystem; its files then have the container's IDs. */
export function isIdMapped({options}: RootMount): boolean {
  return options.some((option) => option.startsWith('uidmap='));
}

/** Returns the command that mounts the filesystem for writing. */
export function writableMount(mount: RootMount): MountCommand {
  const options = mount.options.filter((option) => !IDMAP.test(option));
  const layers = overlayLayers(mount);
  if (layers === undefined) return {...mount, options, directory: '/'};
  const directory = commonDirectory(layers.lowers);
  const short = layers.lowers.map((lower) => relativeTo(directory, lower)).join(':');
  return {
    ...mount,
    directory,
    options: options.map((option) => (option.startsWith('lowerdir=') ? `lowerdir=${short}` : option)),
  };
}

/** Returns the command that mounts the filesystem read-only, without changes to its layers. */
export function readOnlyMount(mount: RootMount): MountCommand {
  const layers = overlayLayers(mount);
  if (layers === undefined) {
    const options = mount.options.filter((option) => option !== 'rw' && !IDMAP.test(option));
    return {...mount, options: [...options, 'ro'], directory: '/'};
  }
  return layersMount(mount, [...(layers.upper === undefined ? [] : [layers.upper]), ...layers.lowers]);
}

/** Returns the command that mounts the image of an overlay: its lower layers. */
export function imageMount(mount: RootMount): MountCommand | undefined {
  const layers = overlayLayers(mount);
  return layers === undefined || layers.lowers.length === 0 ? undefined : layersMount(mount, layers.lowers);
}

/** Options of containerd that mount(8) does not have. */
const IDMAP = /^[ug]idmap=/;
const LAYER_OPTIONS = /^(lowerdir|upperdir|workdir|index|rw|ro)(=|$)/;

function layersMount({source, options}: RootMount, layers: readonly string[]): MountCommand {
  const [only = '', ...others] = layers;
  // An overlay needs two layers.
  if (others.length === 0) return {type: 'none', source: only, options: ['bind', 'ro'], directory: '/'};
  const directory = commonDirectory(layers);
  const short = layers.map((layer) => relativeTo(directory, layer)).join(':');
  const kept = options.filter((option) => !LAYER_OPTIONS.test(option) && !IDMAP.test(option));
  // Without an index, the kernel accepts an upper layer that another mount uses.
  return {type: 'overlay', source, directory, options: ['ro', 'index=off', ...kept, `lowerdir=${short}`]};
}

/** Returns the deepest directory that contains all of the absolute paths. */
function commonDirectory(paths: readonly string[]): string {
  const [first = '/', ...others] = paths;
  if (paths.some((path) => !path.startsWith('/'))) return '/';
  let directory = first;
  do directory = directory.slice(0, Math.max(directory.lastIndexOf('/'), 0));
  while (others.some((path) => !path.startsWith(`${directory}/`)));
  return directory === '' ? '/' : directory;
}

function relativeTo(directory: string, path: string): string {
  const prefix = directory === '/' ? '/' : `${directory}/`;
  return path.startsWith(prefix) ? path.slice(prefix.length) : path;
}
