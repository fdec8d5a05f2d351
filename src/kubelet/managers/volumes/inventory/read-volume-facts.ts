import type {Dirent} from 'node:fs';
import {lstat, readdir, readlink, realpath} from 'node:fs/promises';
import {basename, join} from 'node:path';
import {forEachLimit} from '../../../../base/async/for-each-limit.js';
import {compare} from '../../../../base/compare.js';
import {messageOf, rethrowUnexpected} from '../../../../base/errors.js';
import {fdPath, openDirectory} from '../../../../base/fs/file-handles.js';
import {ifPresent, isPathSegment, withFileErrors} from '../../../../base/fs/files.js';
import {stateDirectory} from '../../../../base/fs/state-directory.js';
import type {MountPoint} from '../../../../base/fs/mount-info.js';
import {claimsDir} from '../../../contract/node-facts.js';
import {POD_DEVICES} from '../block/block-paths.js';
import {blockPaths, blocksDir, CSI_VOLUMES, stagedDir, VOLUME_DATA} from '../csi/csi-paths.js';
import {readVolumeData, type VolumeData} from '../csi/volume-data.js';
import {systemMounter, type Mounter} from '../mounter.js';
import {DISK_KINDS, kindDir, podDirectoryOf} from '../plugins/disks/disk-place.js';
import {deviceNameOf} from '../plugins/disks/multipath.js';
import {ProvisionedVolumeStore} from '../provisioning/provisioned-volume-store.js';
import type {
  MountFact,
  PodVolumeFact,
  ProvisionedVolumeFact,
  StagedVolumeFact,
  VolumeFacts,
} from './volume-facts.js';

/** Number of pods whose directories are read at once. */
const AT_ONCE = 8;
/** Plugins whose directories have a link to their current content, which is made last (AtomicWriter). */
const ATOMIC = new Set(
  ['configmap', 'secret', 'downward-api', 'projected'].map((name) => `kubernetes.io~${name}`),
);
const CSI = 'kubernetes.io/csi';
/** Suffix that the kernel adds to the root of a mount that was removed from its file system. */
const DELETED = /\/\/deleted$/;

/** Options of {@link readVolumeFacts}. */
export interface VolumeFactsOptions {
  readonly mounter?: Pick<Mounter, 'list'>;
  /** Pods whose directories are read; all by default. */
  readonly uids?: ReadonlySet<string> | undefined;
}

/**
 * Reads what the root directory of a kubelet says about volumes; undefined if it does not exist. Only directories on the file
 * system of the root directory are read, never a mounted volume, which may hang, and no link below it is followed but those to
 * devices, which are only resolved. What cannot be read is a problem of the result.
 */
export async function readVolumeFacts(
  rootDir: string,
  {mounter = systemMounter, uids}: VolumeFactsOptions = {},
): Promise<VolumeFacts | undefined> {
  const real = await withFileErrors('resolving', rootDir, () => ifPresent(() => realpath(rootDir)));
  if (real === undefined) return undefined;
  return {requestedDir: rootDir, ...(await new FactsReader(real, await mounter.list()).read(uids))};
}

class FactsReader {
  readonly #rootDir: string;
  readonly #mounts: ReadonlyMap<string, MountPoint>;
  readonly #problems: string[] = [];

  constructor(rootDir: string, mounts: readonly MountPoint[]) {
    this.#rootDir = rootDir;
    this.#mounts = new Map(mounts.map((mount) => [mount.path, mount])); // the last mount at a path hides the others
  }

  async read(wanted: ReadonlySet<string> | undefined): Promise<Omit<VolumeFacts, 'requestedDir'>> {
    const uids = (await this.#directories(join(this.#rootDir, 'pods'))).filter(isPathSegment);
    const read = wanted === undefined ? uids : uids.filter((uid) => wanted.has(uid));
    const found: PodVolumeFact[] = [];
    await forEachLimit(read, AT_ONCE, async (uid) => {
      found.push(...(await this.#volumesOf(uid)), ...(await this.#devicesOf(uid)));
    });
    const pods = found.toSorted((a, b) => compare(a.uid, b.uid));
    const staged = [...(await this.#stagedFileSystems()), ...(await this.#stagedBlocks())];
    const known = new Set(staged.map(({path}) => path));
    const others = this.#otherMounts().filter(({path}) => !known.has(path));
    return {
      isOfKcri: await this.#exists(stateDirectory(this.#rootDir)),
      ...{rootDir: this.#rootDir, uids, pods, staged: [...staged, ...others]},
      claims: await this.#claims(),
      provisioned: await this.#provisioned(),
      problems: this.#problems,
    };
  }

  async #volumesOf(uid: string): Promise<readonly PodVolumeFact[]> {
    const volumes = join(this.#rootDir, 'pods', uid, 'volumes');
    const found: PodVolumeFact[] = [];
    for (const plugin of await this.#directories(volumes))
      for (const name of await this.#directories(join(volumes, plugin))) {
        const directory = join(volumes, plugin, name);
        const common = {uid, plugin: pluginOf(plugin), name, isBlock: false};
        found.push(
          plugin === CSI_VOLUMES
            ? {...common, ...(await this.#published(directory))}
            : {...common, ...(await this.#mounted(plugin, directory))},
        );
      }
    return found;
  }

  async #mounted(
    plugin: string,
    path: string,
  ): Promise<Pick<PodVolumeFact, 'path' | 'mount' | 'isComplete'>> {
    const mount = this.#mountAt(path);
    return {path, mount, isComplete: !ATOMIC.has(plugin) || (await this.#exists(join(path, '..data')))};
  }

  async #published(
    directory: string,
  ): Promise<Pick<PodVolumeFact, 'path' | 'mount' | 'isComplete' | 'data' | 'damage'>> {
    const path = join(directory, 'mount');
    const entries = await this.#entries(directory);
    const mount = this.#mountAt(path);
    // A driver may make a directory without a mount.
    const isComplete =
      mount !== undefined || entries.some((each) => each.name === 'mount' && each.isDirectory());
    return {path, mount, isComplete, ...(await this.#identity(directory, entries))};
  }

  async #devicesOf(uid: string): Promise<readonly PodVolumeFact[]> {
    const devices = join(this.#rootDir, 'pods', uid, POD_DEVICES);
    const found: PodVolumeFact[] = [];
    for (const plugin of await this.#directories(devices))
      for (const {name} of await this.#entries(join(devices, plugin))) {
        const isCsi = plugin === CSI_VOLUMES;
        const device = isCsi
          ? join(blocksDir({rootDir: this.#rootDir}), name, 'dev', uid)
          : join(this.#rootDir, 'plugins', plugin, POD_DEVICES, name, uid);
        const path = join(devices, plugin, name);
        const mount = this.#mountAt(device) ?? (await this.#mapOfDisk(plugin, uid, path));
        const identity = isCsi && isPathSegment(name) ? await this.#blockIdentity(name) : {};
        const common = {uid, plugin: pluginOf(plugin), name, path, isBlock: true};
        found.push({...common, mount, isComplete: mount !== undefined, ...identity});
      }
    return found;
  }

  /** Returns the volumes that CSI drivers have staged, with a file system. */
  async #stagedFileSystems(): Promise<readonly StagedVolumeFact[]> {
    const drivers = stagedDir({rootDir: this.#rootDir});
    const found: StagedVolumeFact[] = [];
    for (const driver of await this.#directories(drivers))
      for (const volume of driver === POD_DEVICES ? [] : await this.#directories(join(drivers, driver))) {
        const directory = join(drivers, driver, volume);
        const path = join(directory, 'globalmount');
        const entries = await this.#entries(directory);
        if (!entries.some(({name}) => name === 'globalmount' || name === VOLUME_DATA)) continue;
        const identity = await this.#identity(directory, entries);
        found.push({plugin: CSI, path, name: undefined, mount: this.#mountAt(path), ...identity});
      }
    return found;
  }

  async #stagedBlocks(): Promise<readonly StagedVolumeFact[]> {
    const node = {rootDir: this.#rootDir};
    const found: StagedVolumeFact[] = [];
    for (const name of (await this.#directories(blocksDir(node))).filter(isPathSegment)) {
      const {data, damage} = await this.#blockIdentity(name);
      if (data === undefined && damage === undefined) continue;
      const path = blockPaths(node, name).staging;
      found.push({
        plugin: CSI,
        path,
        name,
        mount: this.#mountAt(path),
        data,
        ...(damage !== undefined && {damage}),
      });
    }
    return found;
  }

  /** Returns mounts of other plugins for all pods, such as `plugins/kubernetes.io/local-volume/mounts/data`. */
  #otherMounts(): readonly StagedVolumeFact[] {
    const prefix = `${this.#rootDir}/plugins/kubernetes.io/`;
    return [...this.#mounts.values()].flatMap((mount) => {
      const {path} = mount;
      const [folder = '', ...rest] = path.startsWith(prefix) ? path.slice(prefix.length).split('/') : [];
      if (folder === '' || folder === 'csi' || rest.includes(POD_DEVICES)) return [];
      const isFlex = folder === 'flexvolume' && rest.at(-2) === 'mounts';
      const plugin = isFlex ? rest.slice(0, -2).join('/') : `kubernetes.io/${folder}`;
      const name = isFlex || folder === 'local-volume' ? rest.at(-1) : undefined;
      return {plugin, path, name, mount: factOf(mount)};
    });
  }

  async #claims(): Promise<readonly string[]> {
    const directory = claimsDir({rootDir: this.#rootDir});
    const claims: string[] = [];
    for (const namespace of await this.#directories(directory))
      for (const name of await this.#directories(join(directory, namespace)))
        claims.push(`${namespace}/${name}`);
    return claims;
  }

  async #provisioned(): Promise<readonly ProvisionedVolumeFact[]> {
    const list = async (): Promise<readonly ProvisionedVolumeFact[]> =>
      (await new ProvisionedVolumeStore(this.#rootDir).list()).map(
        ({name, claim, request, volume, state}) => ({
          ...{name, claim, driver: request.driver, handle: volume?.spec.csi?.volumeHandle},
          isReleased: state === 'Released',
          isBlock: request.blockName !== undefined,
        }),
      );
    return (await this.#attempt(list)) ?? [];
  }

  async #blockIdentity(
    name: string,
  ): Promise<{readonly data?: VolumeData | undefined; readonly damage?: string}> {
    const {data} = blockPaths({rootDir: this.#rootDir}, name);
    return await this.#identity(data, await this.#entries(data));
  }

  /** Reads the identity of a volume of a CSI driver. */
  async #identity(
    directory: string,
    entries: readonly Dirent[],
  ): Promise<{readonly data?: VolumeData | undefined; readonly damage?: string}> {
    const file = entries.find(({name}) => name === VOLUME_DATA);
    if (file === undefined) return {};
    if (!file.isFile()) return {damage: `${JSON.stringify(join(directory, VOLUME_DATA))} is not a file`};
    try {
      return {data: await readVolumeData(directory)};
    } catch (error) {
      rethrowUnexpected(error);
      return {damage: messageOf(error)};
    }
  }

  /**
   * Returns the map of a disk for a pod, below a directory that is named after the disk, not the volume: that of the device at the
   * end of the volume's link.
   */
  async #mapOfDisk(plugin: string, uid: string, link: string): Promise<MountFact | undefined> {
    const kind = DISK_KINDS.find((each) => podDirectoryOf(each) === plugin);
    if (kind === undefined) return undefined;
    const name = await this.#attempt(() => linkedDevice(link));
    if (name === undefined) return undefined;
    const prefix = `${join(kindDir({rootDir: this.#rootDir}, kind), POD_DEVICES)}/`;
    const isMap = ({path, root}: MountPoint): boolean =>
      path.startsWith(prefix) && path.endsWith(`/${uid}`) && root.replace(DELETED, '') === `/${name}`;
    const mount = [...this.#mounts.values()].find(isMap);
    return mount && factOf(mount);
  }

  #mountAt(path: string): MountFact | undefined {
    const mount = this.#mounts.get(path);
    return mount && factOf(mount);
  }

  async #exists(path: string): Promise<boolean> {
    const look = async () => withFileErrors('reading', path, () => ifPresent(() => lstat(path)));
    return (await this.#attempt(look)) !== undefined;
  }

  async #directories(path: string): Promise<readonly string[]> {
    return (await this.#entries(path)).filter((entry) => entry.isDirectory()).map(({name}) => name);
  }

  /** Returns the entries of a directory, which is not a link, by name; none if it does not exist or cannot be read. */
  async #entries(path: string): Promise<readonly Dirent[]> {
    const entries = await this.#attempt(async () => {
      const directory = await openDirectory(path, path);
      if (directory === undefined) return [];
      try {
        const read = async () => readdir(fdPath(directory), {withFileTypes: true});
        return await withFileErrors('reading', path, read);
      } finally {
        await directory.close();
      }
    });
    return (entries ?? []).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  async #attempt<T>(act: () => Promise<T>): Promise<T | undefined> {
    try {
      return await act();
    } catch (error) {
      rethrowUnexpected(error);
      this.#problems.push(messageOf(error));
      return undefined;
    }
  }
}

/** Returns the name of the device in /dev to which a link leads, or led until its disk was removed. Rejects with SystemError. */
async function linkedDevice(link: string): Promise<string | undefined> {
  const target = async () => withFileErrors('reading', link, () => ifPresent(() => readlink(link)));
  return (await deviceNameOf(link)) ?? basename((await target()) ?? '');
}

function factOf({device, fileSystem, source, path}: MountPoint): MountFact {
  return {device, fileSystem, source, path};
}

/** Returns the plugin of a directory: `kubernetes.io/csi` of `kubernetes.io~csi`. */
function pluginOf(directory: string): string {
  return directory.replaceAll('~', '/');
}
